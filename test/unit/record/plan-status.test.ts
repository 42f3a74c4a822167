import { join } from 'node:path';
import type { DesignProgress } from '../../../contracts/design-run.ts';
import type { SessionReport } from '../../../contracts/note.ts';
import type { AskedQuestion } from '../../../contracts/question.ts';
import type { RecordChange } from '../../../contracts/run-record.ts';
import { orderDecision } from '../../../core/design/architect-task.ts';
import { openSession, renderSession } from '../../../core/notes/session.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { architectAgent, planTask, samplePlan } from '../../support/plans.ts';
import { readTree } from '../../support/read-tree.ts';
import { startedAt, useHarness } from './harness.ts';
import { delegation, outcome, plan, question, wave, wavePlanned } from './samples.ts';

const harness = useHarness();

const askedQuestion: AskedQuestion = {
  text: 'In which unit are rates kept?',
  why_it_matters: 'All readers rely on it.',
  priority: 'high',
  expected_answer_format: 'text',
  choices: [],
  default_answer: null,
};

const rates = 'rates_1727539200';
const decision = 'decision_w1n1_1727539200';

interface Status {
  readonly agents: Readonly<Record<string, { readonly status: string }>>;
  readonly verification: Readonly<
    Record<string, { readonly status: string; readonly assigned_agents: readonly string[] }>
  >;
  readonly overall_completion_drive_gate?: string;
}

async function designed(status: DesignProgress['status']): Promise<RecordChange> {
  const { agents } = samplePlan();
  const drawn = samplePlan({
    tasks: [planTask('rates'), planTask('page', { agent: 'api_agent' })],
    agents: [...agents, architectAgent],
    risks: [],
  });
  const plan_refs = [await harness.deps.store.put(JSON.stringify(drawn))];
  const progress = { status, plan_refs, approved_by: null, materials: [], findings: [] };
  return { type: 'designed', progress: { ...progress, usage: noUsage } };
}

async function session(delegation_id: string, status: SessionReport['status']) {
  const session_ref = await harness.deps.store.put(
    renderSession(openSession(delegation_id, startedAt)),
  );
  const report = { delegation_id, agent_id: 'engineer', status, at: startedAt + 1, session_ref };
  return { type: 'session', session: { ...report, count: 0, unresolved: 0 } } as const;
}

const statusOf = (all: Readonly<Record<string, { readonly status: string }>>) =>
  Object.fromEntries(Object.entries(all).map(([name, { status }]) => [name, status]));

/** Status of each agent and verifier after these changes. */
async function statusAfter(...changes: readonly RecordChange[]) {
  const run = await harness.begin('my-run');
  await run.apply(...changes);
  const tree = await readTree(join(harness.home, 'my-run'));
  const {
    agents,
    verification,
    overall_completion_drive_gate: gate,
  }: Status = JSON.parse(tree['shared_status.json'] ?? '');
  return { agents: statusOf(agents), verifiers: statusOf(verification), verification, gate };
}

/** The instructions of an agent of the plan after these changes. */
async function instructionsAfter(
  agent: string,
  ...changes: readonly RecordChange[]
): Promise<string | undefined> {
  const run = await harness.begin('my-run');
  await run.apply(...changes);
  const tree = await readTree(join(harness.home, 'my-run'));
  return tree[`agents/${agent}/agent_instructions.md`];
}

async function workPlanned(): Promise<RecordChange> {
  const made = plan(delegation(rates, { agent_id: 'engineer' }));
  return wavePlanned(1, await harness.put(made), made);
}

it('before its approval a plan has no task that is verified', async () => {
  expect(await statusAfter(await designed('designing'))).toMatchObject({
    agents: { database_agent: 'pending', api_agent: 'pending' },
    verifiers: { reviewer_agent: 'pending' },
  });
});

it('after its approval all of its tasks are pending', async () => {
  expect((await statusAfter(await designed('approved'))).agents).toEqual({
    database_agent: 'pending',
    api_agent: 'pending',
  });
});

it('an agent whose verification the user has to decide about is blocked', async () => {
  const changes = [
    await designed('approved'),
    await workPlanned(),
    await session(rates, 'ready_for_verification'),
  ];
  expect(await statusAfter(...changes)).toMatchObject({
    agents: { database_agent: 'ready_for_verification' },
    verifiers: { reviewer_agent: 'working' },
  });
  const asked = question('q1', { kind: 'verification', delegation_id: rates });
  expect(await statusAfter(...changes, { type: 'question_opened', question: asked })).toMatchObject(
    {
      agents: { database_agent: 'blocked' },
      verifiers: { reviewer_agent: 'pending' },
    },
  );
});

it.each([
  ['open', 'blocked', 'failed'],
  ['met', 'open', 'verified'],
] as const)(
  'with evidence that is %s the gate of a failed attempt with an escalated note is %s',
  async (state, gate, status) => {
    const made = delegation(rates, { agent_id: 'engineer' });
    const reported = await session(rates, 'failed');
    const left = {
      ...reported,
      session: { ...reported.session, count: 1, unresolved: 1 },
    } as const;
    const outcomes = [await outcome(harness, made, null, { status: 'failed' })];
    const done = wave(1, { plan_ref: await harness.put(plan(made)), outcomes });
    const criteria = [{ criterion_id: 'rates-done', state, delegation_id: 'rates-again' }];
    expect(
      await statusAfter(await designed('approved'), await workPlanned(), left, {
        type: 'wave_done',
        wave: done,
        criteria,
      }),
    ).toMatchObject({ gate, agents: { database_agent: status } });
  },
);

it('the solution architect is among those whose work the verifier judges', async () => {
  const { agents, verification } = await statusAfter(
    await designed('approved'),
    await workPlanned(),
    await session(rates, 'verified'),
    await session(decision, 'ready_for_verification'),
  );
  expect(agents).toMatchObject({
    database_agent: 'verified',
    architect_agent: 'ready_for_verification',
  });
  expect(verification['reviewer_agent']).toEqual({
    status: 'working',
    assigned_agents: ['database_agent', 'api_agent', 'architect_agent'],
  });
});

it("the solution architect's instructions list its decisions, and its verifier's what it judges", async () => {
  const approved = await designed('approved');
  const planned = await workPlanned();
  expect(await instructionsAfter('architect_agent', approved, planned)).toContain(
    'None was asked so far.',
  );
  const { agents, tasks } = samplePlan({ tasks: [planTask('rates')], risks: [] });
  const asker = delegation(rates, { agent_id: 'engineer' });
  const ordered = orderDecision(
    samplePlan({ tasks, agents: [...agents, architectAgent] }),
    { delegation_id: decision, questions: [askedQuestion], asker },
    {
      plan_ref: '',
      agent_name: 'architect_agent',
      agent_id: 'analyst',
      verifier_name: 'reviewer_agent',
      verified_by: 'reviewer',
    },
  );
  const extended = plan(asker, ordered);
  const changes = [
    approved,
    wavePlanned(1, await harness.put(extended), extended),
    await session(decision, 'working'),
  ];
  const architect = await instructionsAfter('architect_agent', ...changes);
  expect(architect).toContain(`# Task ${decision}: Decide what`);
  expect(architect).toContain('In which unit are rates kept?');
  expect(architect).toContain('No file. Your output is the result.');
  expect(architect?.match(/^## Escalation$/gm)).toHaveLength(1);
  const verifier = await instructionsAfter('reviewer_agent', ...changes);
  expect(verifier).toContain(`# Verify ${decision}: Decide what`);
  expect(verifier).toContain(
    `Author: architect_agent. Outputs: \`agents/architect_agent/task_output/${decision}.md\`.`,
  );
  expect(await instructionsAfter('database_agent', ...changes)).not.toContain(decision);
});
