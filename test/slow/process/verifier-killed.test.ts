import type { RecordedCall } from '../../../rehearsal/script.ts';
import { eventually } from '../../support/eventually.ts';
import { runJudgedPlan } from '../../support/judged-plan.ts';
import { callsOfRun, inFlight, outcomeOf, untilCall } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const { stage } = useProcessStages();

/** Until a test cuts it: none waits that long. */
const hangs = { pass: true, delayMs: 600_000 } as const;

it('part of fault 2: kill -9 inside a verifier’s call; the output is verified once, and its doer is not asked again', async () => {
  stage.rehearsal.script([{ match: { schema: 'verification', nth: 1 }, reply: hangs }]);
  const task = { agent_id: 'writer', task_description: 'Write a line.', verify: true };
  const run = await stage.start('delegation', task, 'verified-later');
  const worker = await startWorkerProcess(stage);
  const hanging = await untilCall(stage, 'verified-later', 2);
  expect(hanging.shape).toBe('verification');
  worker.signal('SIGKILL');
  expect(await worker.ended).toBe('SIGKILL');
  await stage.startWorker();
  expect(await stage.result(run)).toMatchObject({
    status: 'completed',
    verification: { status: 'verified', attempts: 1 },
  });
  const calls = callsOfRun(stage, 'verified-later');
  expect(calls.map(({ shape, outcome }) => [shape, outcome])).toEqual([
    ['delegation', 'answered'],
    ['verification', 'client-closed'],
    ['verification', 'answered'],
  ]);
  await expectPromisesKept(stage, 'verified-later', { orphans: true });
}, 180_000);

const phases = ['deliberate', 'negotiate', 'execute'] as const;

/** Everything about a judgement that must be the same however often a worker died. */
async function verdictOf(id: string) {
  const run = stage.client.workflow.getHandle(id);
  const { status, criteria } = await outcomeOf(stage, run);
  const outcome = (await storedRecord(stage.home, id)).waves[0]?.outcomes[0];
  const { verified_by, status: end, attempts, judgement } = outcome?.verification ?? {};
  const { work, kind } = judgement?.executor ?? {};
  return {
    status,
    criteria,
    verified: [verified_by, end, attempts],
    judged: [judgement?.delegation_id, kind, work?.dissent],
    phases: work?.phases.map((one) => [one.phase, one.status, one.attempt, one.rounds]),
  };
}

/** Counts the calls by what they were for. */
function countCalls(calls: readonly RecordedCall[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { shape, turn } of calls) {
    const name = turn === null ? String(shape) : `${turn.member} ${turn.phase} ${turn.round}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

it('fault 2: kill -9 in every phase of a triad’s judgement and in its verdict; it is the same, and only calls in flight are bought again', async () => {
  await stage.startWorker();
  await runJudgedPlan(stage, 'undisturbed', 'List three ways.');
  const verdict = await verdictOf('undisturbed');
  const planned = countCalls(callsOfRun(stage, 'undisturbed'));
  await stage.stopWorker();
  expect(verdict).toMatchObject({ status: 'completed', verified: ['reviewer', 'verified', 1] });

  stage.rehearsal.script([
    ...phases.map((phase) => ({
      match: { callKeyIncludes: 'judged-later/', phase, nth: 1 },
      reply: hangs,
    })),
    { match: { callKeyIncludes: 'judged-later/', schema: 'verification', nth: 1 }, reply: hangs },
  ]);
  await runJudgedPlan(stage, 'judged-later', 'List three ways.');
  const ofRun = () => callsOfRun(stage, 'judged-later');
  const cut: RecordedCall[] = [];
  for (const place of [...phases, 'verdict'] as const) {
    const worker = await startWorkerProcess(stage);
    await eventually(`${place} in flight`, async () =>
      inFlight(ofRun()).some(({ turn, shape }) =>
        place === 'verdict' ? shape === 'verification' : turn?.phase === place,
      ),
    );
    worker.signal('SIGKILL');
    expect(await worker.ended).toBe('SIGKILL');
    const harmed = await eventually('the end of its calls', async () => {
      const all = ofRun().filter((call) => !cut.includes(call));
      return inFlight(all).length === 0 && all.filter((call) => call.outcome !== 'answered');
    });
    // The fault fired, where it was to.
    expect(harmed.map(({ turn, shape }) => turn?.phase ?? shape)).toContain(
      place === 'verdict' ? 'verification' : place,
    );
    cut.push(...harmed);
  }
  await stage.startWorker();

  expect(await verdictOf('judged-later')).toEqual(verdict);
  expect(cut.map(({ outcome }) => outcome)).toEqual(cut.map(() => 'client-closed'));
  const twice = countCalls(cut);
  const bought = Object.entries(countCalls(ofRun())).map(([name, n]) => [
    name,
    n - (twice[name] ?? 0),
  ]);
  expect(Object.fromEntries(bought)).toEqual(planned);
  await expectPromisesKept(stage, 'judged-later', { orphans: true });
}, 300_000);
