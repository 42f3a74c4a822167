import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { RecordedCall } from '../../../rehearsal/script.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  memberReply,
  phaseReport,
  takes,
  threeOf,
  triadWork,
} from '../../support/scripted-triad.ts';
import { callsOf } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { triadOf } from '../../support/executors.ts';

const { stage } = useStage();

const goal = 'Compare two ways to store sensor data';

/** Each type in another phase, so that every phase has a member that fails: one that owes something in it. */
const failing = [
  { id: 'fails-deliberate', type: 'hierarchical', phase: 'deliberate', agent: 'orchestrator' },
  { id: 'fails-negotiate', type: 'consensus', phase: 'negotiate', agent: 'peer-3' },
  { id: 'fails-execute', type: 'dialectic', phase: 'execute', agent: 'synthesizer' },
] as const;
const types = ['dialectic', 'consensus', 'hierarchical'] as const;
const phases = ['deliberate', 'negotiate', 'execute'] as const;

/** It talks, and puts nothing into the records. */
const idle = memberReply({ said: 'I agree with all of it.' });

type Failing = (typeof failing)[number];

it('a member that fails ends its phase, whichever it is: the retry buys the failed turn and nothing else, and a second failure is that of the delegation', async () => {
  stage.rehearsal.script([
    ...failing.flatMap(({ id, phase, agent }) =>
      [1, 2, 3].map((nth) => takes({ within: id, member: agent, phase, nth }, idle)),
    ),
    takes({ within: 'ignored', member: 'peer-3', phase: 'negotiate' }, idle),
  ]);
  const calm = types.map((type) => ({ id: `calm-${type}`, type }));
  const played = [...calm, ...failing];
  const run = await stage.start('plannerWave', {
    goal,
    delegations: [
      ...played.map(({ id, type }) => triadWork(id, type, { criteria: threeOf(id) })),
      triadWork('ignored', 'consensus', { criteria: threeOf('ignored') }),
    ],
    limits: { max_parallel: 20 },
  });
  const { outcomes }: WaveResult = await run.result();
  expectFailed(outcomes.at(-1));
  expectShownToPlanner(outcomes.at(-1));
  expect(outcomes.slice(0, -1).map((one) => [one.delegation_id, one.status, one.reason])).toEqual(
    played.map(({ id }) => [id, 'completed', '']),
  );
  for (const outcome of outcomes.slice(0, calm.length)) await expectAgreedAtOnce(outcome);
  for (const one of failing) {
    const outcome = outcomes.find(({ delegation_id }) => delegation_id === one.id);
    if (outcome === undefined) throw new Error(`${one.id} has no outcome.`);
    await expectOneRetry(one, outcome);
  }
  await expectPromisesKept(stage, run.workflowId);
});

async function expectAgreedAtOnce(outcome: DelegationOutcome): Promise<void> {
  const { rounds, spec } = await phaseReport(stage.home, outcome, 'negotiate');
  const states = spec.claims.map(({ state }) => state);
  expect([rounds, states]).toEqual([1, ['settled', 'settled', 'settled']]);
}

async function expectOneRetry(
  { id, type, phase, agent }: Failing,
  outcome: DelegationOutcome,
): Promise<void> {
  const attempts = triadOf(outcome)?.phases.map((one) => [one.phase, one.attempt, one.status]);
  expect([id, attempts]).toEqual([
    id,
    phases.flatMap((one) =>
      one === phase
        ? [
            [one, 1, 'failed'],
            [one, 2, 'done'],
          ]
        : [[one, 1, 'done']],
    ),
  ]);
  const { failure } = await phaseReport(stage.home, outcome, phase, 1);
  expect(failure).toEqual({
    agent,
    phase,
    message: expect.stringContaining('No valid output in 3 attempts'),
  });
  const calls = callsOf(stage.rehearsal, id);
  // The fault fired.
  expect(calls.filter(({ rule }) => rule !== null)).toHaveLength(3);
  const calm = countPlaces(callsOf(stage.rehearsal, `calm-${type}`));
  expect([id, findMore(calm, countPlaces(calls))]).toEqual([
    id,
    [[expect.stringContaining(`${phase} ${agent} `), 3]],
  ]);
  expect(outcome.turns).toBe(calls.length);
}

/** How often each member was called for each turn. */
function countPlaces(calls: readonly RecordedCall[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { turn } of calls) {
    const place = `${turn?.phase} ${turn?.member} ${turn?.round}`;
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return counts;
}

/** Where one was called oftener than the other, and by how much. */
function findMore(
  calm: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): readonly (readonly [place: string, more: number])[] {
  return [...new Set([...calm.keys(), ...other.keys()])].flatMap((place) => {
    const more = (other.get(place) ?? 0) - (calm.get(place) ?? 0);
    return more === 0 ? [] : [[place, more] as const];
  });
}

/** It never answers, so its delegation fails after two attempts at the phase. */
function expectFailed(outcome: DelegationOutcome | undefined): void {
  const message = expect.stringContaining('these claims wait for your answer');
  expect(outcome).toMatchObject({
    status: 'failed',
    reason: expect.stringContaining('peer-3 failed in negotiate: '),
    criteria_unmet: threeOf('ignored'),
    output_ref: expect.any(String),
    executor: { work: { failure: { agent: 'peer-3', phase: 'negotiate', message } } },
  });
  const asked = callsOf(stage.rehearsal, 'ignored').flatMap(({ turn }) =>
    turn?.phase === 'negotiate' ? [turn.member] : [],
  );
  // Who has answered is not asked again.
  expect(asked.filter((member) => member !== 'peer-3')).toHaveLength(2);
  expect(asked.filter((member) => member === 'peer-3')).toHaveLength(6);
}

/** Expects that the planner reads, as what is not whole, the summary that its members had made and that is paid for. */
function expectShownToPlanner(outcome: DelegationOutcome | undefined): void {
  const [call] = stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');
  const body = JSON.stringify(call?.body);
  expect(outcome?.criteria_met).toEqual([]);
  expect(body).toContain('**Not whole.** The triad gave no output: ');
  expect(body).toMatch(/# Work of ignored\\n\\n\*\*Not whole\.\*\* .{1,400}## Summary/);
}
