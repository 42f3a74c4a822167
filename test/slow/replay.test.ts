import {
  cutAtTasks,
  faultsOf,
  historyFiles,
  readHistory,
  silenceRuntime,
} from '../replay/stored-histories.ts';
import { loadWorkflowBundle } from '../../worker/bundle-workflows.ts';

beforeAll(silenceRuntime);

it('every history replays with tracing and keys too, so that both can be set while runs are open', async () => {
  const traced = await loadWorkflowBundle({ traced: true, encrypted: true });
  const faults = await faultsOf(historyFiles.map(readHistory), traced);
  expect(historyFiles.map((file, at) => [file, faults[at]])).toEqual(
    historyFiles.map((file) => [file, null]),
  );
});

it('a worker that takes a design over at any of its workflow tasks finds its place', async () => {
  const designed = historyFiles.filter((file) => file.includes('-designed'));
  expect(designed).toHaveLength(3);
  const cuts = designed.map(readHistory).flatMap(cutAtTasks);
  expect(cuts.length).toBeGreaterThan(100);
  expect(await faultsOf(cuts, await loadWorkflowBundle())).toEqual(cuts.map(() => null));
});
