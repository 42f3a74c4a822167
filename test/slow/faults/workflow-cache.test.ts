import type { WorkflowHandle } from '@temporalio/client';
import type { Usage } from '../../../contracts/usage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { decision, isFirstTurn, plansOneTask } from '../../support/scripted-work.ts';
import { openStage } from '../../support/stage.ts';
import type { Stage } from '../../support/stage.ts';
import { storedRecord } from '../../support/stored-record.ts';

const runsPerSize = 25;

/** Runs with the same texts, so that whatever differs is the worker's doing. Each delegation has two turns. */
function openScripted(maxCachedWorkflows?: number): Promise<Stage> {
  return openStage({
    ...(maxCachedWorkflows !== undefined && { maxCachedWorkflows }),
    script: [
      plansOneTask,
      { match: { schema: 'decision' }, reply: { json: decision() } },
      {
        match: { schema: 'delegation' },
        reply: ({ body }) => (isFirstTurn(body) ? { text: 'Not yet.' } : { pass: true }),
      },
    ],
  });
}

const kinds = ['plannerRun', 'delegation'] as const;
type Kind = (typeof kinds)[number];

/** One run in five has a planner, and with it three workflows. */
function kindOf(nth: number): Kind {
  return nth % 5 === 0 ? 'plannerRun' : 'delegation';
}

function start(stage: Stage, kind: Kind): Promise<WorkflowHandle> {
  return kind === 'plannerRun'
    ? stage.start(kind, { goal: 'Store a backup' })
    : stage.start(kind, { agent_id: 'writer', task_description: 'Write about backups.' });
}

/** Everything that a run came to, its texts by their addresses. */
async function comesTo(stage: Stage, run: WorkflowHandle): Promise<unknown> {
  const { usage }: { readonly usage: Usage } = await run.result();
  const { status, criteria, waves, facts } = await storedRecord(stage.home, run.workflowId);
  const refs = waves.map((wave) => [
    wave.plan_ref,
    wave.decision_ref,
    ...wave.outcomes.map(({ output_ref, turns }) => [output_ref, turns]),
  ]);
  const said = facts.map(({ statement }) => statement);
  return { calls: usage.calls, status, criteria, refs, said };
}

let stage: Stage | null = null;
afterEach(() => stage?.close());

/** Results of runs whose workflows all stay in memory. */
const undisturbed = new Map<Kind, unknown>();
beforeAll(async () => {
  const roomy = await openScripted();
  for (const kind of kinds) undisturbed.set(kind, await comesTo(roomy, await start(roomy, kind)));
  await roomy.close();
});

it.each([0, 1, 2, 3])(
  `fault 7: ${runsPerSize} runs on a worker that keeps %i workflows in memory come to the same`,
  async (size) => {
    const tight = await openScripted(size);
    stage = tight;
    const plannedKinds = Array.from({ length: runsPerSize }, (_, nth) => kindOf(nth));
    const runs = await Promise.all(plannedKinds.map((kind) => start(tight, kind)));
    let cachedMax = 0;
    const watch = setInterval(() => {
      cachedMax = Math.max(cachedMax, tight.cachedWorkflows());
    }, 10);
    const results = await Promise.all(runs.map((run) => comesTo(tight, run)));
    clearInterval(watch);
    expect(results).toEqual(plannedKinds.map((kind) => undisturbed.get(kind)));
    // The fault fired: many runs at once, and hardly any in memory but those whose tasks are at work.
    expect(cachedMax).toBeLessThanOrEqual(size + 2);
    await expectPromisesKept(tight, runs[0]?.workflowId ?? '');
  },
);
