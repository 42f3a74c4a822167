import { join } from 'node:path';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { RecordChange, RecordedWave } from '../../../contracts/run-record.ts';
import type { RunPhase } from '../../../contracts/views.ts';
import { startedAt, useHarness } from './harness.ts';
import { readTree } from '../../support/read-tree.ts';
import {
  answered,
  delegation,
  outcome,
  output,
  plan,
  question,
  usage,
  wave,
  wavePlanned,
} from './samples.ts';
import type { TriadPlan } from '../../../contracts/triad.ts';

interface SharedStatus {
  readonly status: string;
  readonly agents: Readonly<
    Record<string, { readonly status: string; readonly last_update: number }>
  >;
}

const harness = useHarness();

/** `shared_status.json` after these changes, all of one minute after the beginning. */
const statusAfter = async (...changes: readonly RecordChange[]): Promise<SharedStatus> => {
  const run = await harness.begin('my-run');
  await run.apply(...changes);
  const tree = await readTree(join(harness.home, 'my-run'));
  const status: SharedStatus = JSON.parse(tree['shared_status.json'] ?? '');
  return status;
};

const stateOf = async (...changes: readonly RecordChange[]): Promise<unknown> => {
  const made = plan(
    delegation('first'),
    delegation('second', { depends_on: ['first'], agent_id: 'writer' }),
  );
  const planned = wavePlanned(1, await harness.put(made), made);
  const { agents } = await statusAfter(planned, ...changes);
  return Object.entries(agents).map(([id, entry]) => [id, entry.status, entry.last_update]);
};

it('finding C3: has the shape of seed 003, with delegation_ids as keys, and tells nothing that nobody found', async () => {
  const made = plan(delegation('first', { depends_on: [] }));
  expect(await statusAfter(wavePlanned(1, await harness.put(made), made))).toEqual({
    task_id: 'my-run',
    status: 'in_progress',
    session_start: startedAt,
    agents: {
      first: {
        agent_id: 'researcher',
        status: 'working',
        dependencies: [],
        last_update: startedAt + 60,
      },
    },
    verification: {},
  });
});

it('has no agents and no verifiers before a plan', async () => {
  expect(await statusAfter()).toEqual({
    task_id: 'my-run',
    status: 'in_progress',
    session_start: startedAt,
    agents: {},
    verification: {},
  });
});

it('names each agent that verifies, with the delegations that it judges', async () => {
  const verification = { verified_by: 'reviewer', checks: [] };
  const made = plan(
    delegation('first', { verification }),
    delegation('second', { verification }),
    delegation('third'),
  );
  const planned = wavePlanned(1, await harness.put(made), made);
  expect(await statusAfter(planned)).toMatchObject({
    verification: { reviewer: { status: 'pending', assigned_agents: ['first', 'second'] } },
  });
});

it('planned: what depends on nothing works, the rest is pending', async () => {
  expect(await stateOf()).toEqual([
    ['first', 'working', startedAt + 60],
    ['second', 'pending', null],
  ]);
});

it('blocked while its question is open, at work again when it is answered', async () => {
  const opened = {
    type: 'question_opened',
    question: question('q1', { delegation_id: 'second', asked_at: 7 }),
  } as const;
  expect(await stateOf(opened)).toContainEqual(['second', 'blocked', 7]);
  expect(
    await stateOf(opened, {
      type: 'question_answered',
      answered: answered('q1', { delegation_id: 'second', answered_at: 9 }),
      answer_ref: null,
    }),
  ).toContainEqual(['second', 'working', 9]);
});

it('blocked when the run ended in the middle', async () => {
  expect(await stateOf({ type: 'ended', status: 'stopped', usage: usage(1) })).toEqual([
    ['first', 'blocked', startedAt + 60],
    ['second', 'pending', null],
  ]);
});

it.each<[DelegationOutcome['status'], RecordedWave['status'], string]>([
  ['completed', 'decided', 'session_complete'],
  ['completed', 'stopped', 'ready_for_verification'],
  ['failed', 'decided', 'failed'],
  ['stopped', 'stopped', 'blocked'],
  ['skipped', 'decided', 'pending'],
])('%s in a wave that is %s is %s', async (outcomeStatus, waveStatus, expected) => {
  const first = delegation('first');
  const { agents } = await statusAfter({
    type: 'wave_done',
    wave: wave(1, {
      status: waveStatus,
      plan_ref: await harness.put(plan(first)),
      outcomes: [await outcome(harness, first, output(), { status: outcomeStatus })],
    }),
    criteria: [],
  });
  expect(agents['first']).toMatchObject({ status: expected, last_update: startedAt + 60 });
});

it.each<[RunPhase, string]>([
  ['intake', 'in_progress'],
  ['working', 'in_progress'],
  ['ending', 'in_progress'],
  ['waiting_for_user', 'blocked'],
  ['paused', 'blocked'],
  ['parked', 'blocked'],
  ['failed', 'failed'],
])('a run that is %s is %s', async (phase, expected) => {
  expect(await statusAfter({ type: 'phase', phase })).toMatchObject({ status: expected });
});

it('says who is in a triad and why, here and among the decisions of the summary', async () => {
  const members = [
    { name: 'ada', role: 'proposer', agent_id: 'writer', lens: 'cost' },
    { name: 'ben', role: 'critic', agent_id: 'researcher', model: 'small' },
    { name: 'cleo', role: 'synthesizer', agent_id: 'researcher' },
  ] as const;
  const triad: TriadPlan = {
    type: 'dialectic',
    reason: 'It is hard\nto undo.',
    members: [...members],
    rounds_max: 2,
    sections: [{ section_id: 'a', text: 'All of it.' }],
  };
  const made = plan(
    delegation('first', { executor: { kind: 'triad', ...triad } }),
    delegation('second'),
  );
  const { agents } = await statusAfter(wavePlanned(1, await harness.put(made), made));
  expect(agents['first']).toMatchObject({
    agent_id: 'researcher',
    triad: { type: 'dialectic', reason: triad.reason, members },
  });
  expect(agents['second']).not.toHaveProperty('triad');
  const tree = await readTree(join(harness.home, 'my-run'));
  const summary = tree['conversation_summary_compare_ways_to_store_sensor_data.md'];
  expect(summary).toContain(
    [
      '- Decision: first is done by a dialectic triad: ada (writer, lens: cost); ben (researcher, model: small); cleo (researcher)',
      '  - Rationale: It is hard to undo.',
      '  - Alternatives considered: one agent, researcher',
    ].join('\n'),
  );
});

it('finding F9: the summary says who answered each question, and lists what was assumed as an assumption', async () => {
  await statusAfter(
    ...(['user', 'planner', 'planner-assumption', 'default'] as const).map((answered_by, n) => ({
      type: 'question_answered' as const,
      answered: answered(`q${n}`, { answer: `Answer ${n}`, answered_by }),
      answer_ref: null,
    })),
  );
  const tree = await readTree(join(harness.home, 'my-run'));
  const summary = tree['conversation_summary_compare_ways_to_store_sensor_data.md'] ?? '';
  const resolved = summary.slice(
    summary.indexOf('## Questions Resolved'),
    summary.indexOf('## Open Items'),
  );
  expect(resolved).toContain('- Q: What about q0?\n- A (user): Answer 0\n');
  expect(resolved).toContain('- A (planner): Answer 1\n');
  expect(resolved).not.toContain('q2');
  expect(summary).toContain('- Assumption (the planner assumed it, q2): What about q2? Answer 2');
  expect(summary).toContain('- Assumption (the default was taken, q3): What about q3? Answer 3');
});
