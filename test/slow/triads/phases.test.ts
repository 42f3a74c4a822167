import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { TriadPhaseView } from '../../../contracts/views.ts';
import { faultsOf } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  answers,
  call,
  memberCalls,
  memberReply,
  readMemberRequest,
  takes,
} from '../../support/scripted-triad.ts';
import { completed, held } from '../../support/scripted-work.ts';
import { storedText } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';
import { triadOf } from '../../support/executors.ts';

const { stage } = useStage();

const dialectic = { type: 'dialectic', task: 'Propose a store.' };

/** Model calls of a rehearsed dialectic triad, whose critic revises one claim. */
const callsOfSeven = 7;

const three = ['price', 'risk', 'style'].map((section_id) => ({
  section_id,
  text: `What is to be said of ${section_id}.`,
}));

async function play(input: object): Promise<{ id: string; outcome: DelegationOutcome }> {
  const run = await stage.start('triad', input);
  const outcome: DelegationOutcome = await run.result();
  return { id: run.workflowId, outcome };
}

describe('a triad and its phases', () => {
  it.each(['dialectic', 'hierarchical'])(
    'of type %s does a task by three phases on the rehearsal model',
    async (type) => {
      const { id, outcome } = await play({ ...dialectic, type });
      expect(outcome).toMatchObject({ status: 'completed', reason: '' });
      // A hierarchical one takes more where its workers' results come one by one.
      expect(outcome.turns).toBeGreaterThanOrEqual(callsOfSeven);
      expect(triadOf(outcome)?.phases).toMatchObject(
        ['deliberate', 'negotiate', 'execute'].map((phase) => ({
          phase,
          attempt: 1,
          status: 'done',
        })),
      );
      expect(stage.rehearsal.calls()).toHaveLength(outcome.turns);
      await expectPromisesKept(stage, id);
    },
  );

  it('answers as many queries of one reply as fit, and the member takes its turn in the next', async () => {
    const sections = Array.from({ length: 12 }, (_, at) => ({
      section_id: `section-${at}`,
      text: 'One of many.',
    }));
    const claims = sections.map(({ section_id }) =>
      call('register_claim', { section_id, proposal: 'As it is usually done.' }),
    );
    const queries = Array.from({ length: 80 }, () => call('get_current_claims', {}));
    const place = { member: 'proposer', phase: 'deliberate' } as const;
    stage.rehearsal.script([
      takes({ ...place, nth: 1 }, memberReply({ calls: [...claims, ...queries] })),
    ]);
    const { id, outcome } = await play({ ...dialectic, sections });
    expect(outcome).toMatchObject({ status: 'completed', turns: callsOfSeven + 1 });
    const [, second] = memberCalls(stage.rehearsal, place);
    const told = JSON.stringify(second?.body);
    expect(told.match(/fewer queries in one reply/gu)?.length).toBeGreaterThan(1);
    expect(told.length).toBeLessThan(400_000);
    await expectPromisesKept(stage, id);
  });

  it('shows who is at work, round by round', async () => {
    const waiting = held({ pass: true });
    stage.rehearsal.script([takes({ member: 'critic', phase: 'negotiate' }, waiting.reply)]);
    const run = await stage.start('triad', dialectic);
    await stage.rehearsal.waitForCalls(4);
    const phase = stage.client.workflow.getHandle(`${run.workflowId}/negotiate`);
    expect(await phase.query<TriadPhaseView | null>('status')).toMatchObject({
      type: 'dialectic',
      phase: 'negotiate',
      state: 'running',
      round: 1,
      at_work: ['critic'],
      claims: [{ member: 'proposer', state: 'open' }],
    });
    waiting.release();
    await run.result();
  });
});

it('finding P5: a dialectic triad that agrees at once takes six calls, and hands on what was agreed', async () => {
  const text = '## One store\n\nA table for each month, because old months are deleted as a whole.';
  stage.rehearsal.script([
    takes(
      { member: 'proposer', phase: 'deliberate' },
      memberReply({ calls: [call('register_claim', { section_id: 'c1', proposal: text })] }),
    ),
    takes(
      { member: 'critic', phase: 'negotiate' },
      answers(() => 'CONCEDE'),
    ),
    {
      match: { member: 'synthesizer', phase: 'execute', schema: 'delegation' },
      reply: { json: { ...completed('c1'), detailed_md: '', detailed_from: ['sections'] } },
    },
  ]);
  const { id, outcome } = await play(dialectic);
  expect(outcome).toMatchObject({ status: 'completed', turns: 6, criteria_met: ['c1'] });
  const calls = stage.rehearsal.calls();
  expect(calls.map(({ turn }) => `${turn?.phase} ${turn?.member}`)).toEqual([
    'deliberate proposer',
    'deliberate critic',
    'deliberate synthesizer',
    'negotiate critic',
    'negotiate synthesizer',
    'execute synthesizer',
  ]);
  const output: AgentOutput = JSON.parse(await storedText(stage.home, outcome.output_ref ?? ''));
  expect(output.detailed_md).toBe(text);

  // The task is the section, an analyst proposes, and nobody is shown the agreed text twice.
  const [proposer] = calls;
  const first = readMemberRequest(proposer);
  expect(first.sections).toMatchObject([{ section_id: 'c1', text: dialectic.task }]);
  expect(JSON.stringify(proposer?.body)).not.toContain('done as described');
  expect(proposer?.callKey).toContain('/analyst/');
  const writer = calls.at(-1);
  const last = readMemberRequest(writer);
  expect(last.sections).toMatchObject([{ owner: 'proposer', status: 'done', text }]);
  expect(JSON.stringify(writer?.body).split('old months are deleted')).toHaveLength(2);
  await expectPromisesKept(stage, id);
});

it('finding F12: a triad that agreed on nothing meets no criterion, whatever its sections are called', async () => {
  stage.rehearsal.script([
    { match: { phase: 'execute', schema: 'delegation', nth: 1 }, reply: { json: completed('c1') } },
  ]);
  const { id, outcome } = await play({
    type: 'consensus',
    task: 'Design a schema. [disagree]',
    sections: [{ section_id: 'tables', text: 'All of them.' }],
    acceptance_criteria: ['The tables are agreed.'],
  });
  const [claimed, again] = memberCalls(stage.rehearsal, { phase: 'execute' });
  expect(claimed?.rule).toBe(0);
  expect(faultsOf(again).join()).toContain('did not agree on section "tables"');
  expect(outcome).toMatchObject({ criteria_met: [], criteria_unmet: ['c1'] });
  await expectPromisesKept(stage, id);
});

describe('a member that fails', () => {
  it('that nothing can help fails the delegation: who, where and why', async () => {
    const refusal = { status: 400, message: 'not like this' };
    stage.rehearsal.script([takes({ member: 'peer-2', phase: 'execute' }, refusal)]);
    const { id, outcome } = await play({
      type: 'consensus',
      task: 'Propose a store. [later]',
      sections: three,
    });
    const failure = {
      agent: 'peer-2',
      phase: 'execute',
      message: expect.stringContaining('not like this'),
    };
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('peer-2 failed in execute: '),
      output_ref: expect.any(String),
      executor: { work: { failure } },
    });
    await expectPromisesKept(stage, id);
  });

  it('is one whose time is over: its call is cancelled, and the turn is taken again', async () => {
    stage.rehearsal.script([
      takes({ member: 'proposer', phase: 'deliberate', nth: 1 }, { pass: true, delayMs: 600_000 }),
    ]);
    // So long that the other turns end in time on a busy machine.
    const { id, outcome } = await play({ ...dialectic, timeouts: { turn_seconds: 10 } });
    expect(outcome).toMatchObject({ status: 'completed', turns: callsOfSeven + 1 });
    expect(stage.rehearsal.calls()[0]).toMatchObject({ outcome: 'client-closed' });
    await expectPromisesKept(stage, id);
  });
});
