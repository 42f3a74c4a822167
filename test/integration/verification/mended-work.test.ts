import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { PlannerWaveInput, WaveResult } from '../../../contracts/planner-wave.ts';
import type { NamedTeam } from '../../../contracts/team.ts';
import type { RecordedCall, ScriptRule } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { teamOf } from '../../support/executors.ts';
import { playTeam } from '../../support/play-team.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  does,
  gives,
  leaderCalls,
  leads,
  teamInput,
  teamWork,
} from '../../support/scripted-team.ts';
import { completed } from '../../support/scripted-work.ts';
import { storedText } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const number = '+49 170 5556677';

const { stage } = useStage({
  middlewares: [
    {
      name: 'mask',
      kind: 'middleware',
      stages: ['input'],
      apply: (text) => ({ type: 'pass', text: text.replaceAll(number, '[phone number]') }),
    },
    {
      name: 'sign',
      kind: 'middleware',
      stages: ['output'],
      apply: (text) => ({ type: 'pass', text: `${text} Signed.`, note: 'signed it' }),
    },
    {
      name: 'embargo',
      kind: 'guardrail',
      stages: ['output'],
      apply: (text) =>
        text.includes('copper') ? { type: 'block', reason: 'Under an embargo.' } : { type: 'pass' },
    },
    {
      name: 'careful',
      kind: 'guardrail',
      stages: ['output'],
      apply: (text) =>
        text.includes('Mended') ? { type: 'ask', reason: 'It was mended.' } : { type: 'pass' },
    },
  ],
});

const says = (detailed_md: string) => ({
  ...completed('ask-done'),
  compact_md: detailed_md,
  detailed_md,
});

/** Verdicts of the verifier, in their order; the last one for all that follow. */
const judges = (...verdicts: readonly ('pass' | 'fail')[]): ScriptRule[] =>
  verdicts.map((verdict, at) => ({
    match: { schema: 'verification', ...(at < verdicts.length - 1 && { nth: at + 1 }) },
    reply: {
      json: {
        verdict,
        missing_evidence: verdict === 'fail' ? ['Say what it is made of.'] : [],
        reviewed_notes: [],
      },
    },
  }));

interface Played {
  readonly runId: string;
  readonly outcome: DelegationOutcome;
}

async function outcomeOf(
  input: Pick<PlannerWaveInput, 'delegations' | 'teams'>,
  whileItWorks: (run: Awaited<ReturnType<typeof stage.start>>) => Promise<unknown> = async () => {},
): Promise<Played> {
  const run = await stage.start('plannerWave', { goal: 'Find out', verify: true, ...input });
  await whileItWorks(run);
  const { outcomes }: WaveResult = await run.result();
  await expectPromisesKept(stage, run.workflowId);
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error('There is no outcome.');
  return { runId: run.workflowId, outcome };
}

const team = (over: Partial<NamedTeam> = {}) => ({
  delegations: [
    teamWork('ask', { team_id: 'desk' }, { task_description: `Call ${number}: what is it of?` }),
  ],
  teams: [{ team_id: 'desk', members: [{ id: 'researcher' }], ...over }],
});

/** Calls of the leader that mends the answer alone. */
const mending = (): readonly RecordedCall[] =>
  stage.rehearsal
    .calls()
    .filter(({ shape, task }) => shape === 'delegation' && task?.delegation_id === 'ask')
    .filter(({ task }) => task?.leads === false);

const first = (text: string) => [
  ...leads([[gives('researcher')], { output: says(text) }], 'ask'),
  does({ team: 'ask', agent: 'researcher' }, { json: completed('c1') }),
];

const mends = (text: string): ScriptRule => ({
  match: { schema: 'delegation', delegation: 'ask', leads: false },
  reply: { json: says(text) },
});

describe('the answer of a team that its leader mends alone after a failed verification', () => {
  it('is from the cleaned message, passes the output functions, and replaces the refused one in the thread', async () => {
    stage.rehearsal.script([...first('Of tin.'), mends('Of iron.'), ...judges('fail', 'pass')]);
    const { runId, outcome } = await outcomeOf(
      team({
        input_middlewares: ['mask'],
        output_middlewares: ['sign'],
        guardrails: { output: ['embargo'] },
        thread_id: 'mended',
      }),
    );
    expect(outcome).toMatchObject({
      status: 'completed',
      verification: { status: 'verified', attempts: 2 },
    });
    const told = JSON.stringify(mending().map(({ body }) => body));
    expect(told).toContain('[phone number]');
    expect(told).not.toContain(number);
    // The work of the team is still there, with the use of its leader for the mended answer.
    const work = teamOf(outcome);
    const signed = 'sign: compact_md: signed it; detailed_md: signed it';
    expect(work).toMatchObject({
      tasks: { completed: 1 },
      notes: ['The thread is new.', signed, signed],
    });
    expect(work?.leader.turns).toBe(leaderCalls(stage.rehearsal, 'ask').length + mending().length);
    expect(existsSync(join(stage.home, runId, 'teams/ask.md'))).toBe(true);
    expect(await storedText(stage.home, outcome.output_ref ?? '')).toContain('Of iron. Signed.');
    const next = await playTeam(
      stage,
      leads([{ output: completed('c1') }]),
      teamInput(['researcher'], { message: 'And?', thread_id: 'mended' }),
    );
    const known = JSON.stringify(next.calls()[0]?.body);
    expect(known).toContain('Of iron. Signed.');
    expect(known).not.toContain('Of tin.');
  });

  it('does not pass a guardrail that blocks it, and the thread has no answer', async () => {
    stage.rehearsal.script([...first('Of tin.'), mends('Of copper.'), ...judges('fail', 'pass')]);
    const { outcome } = await outcomeOf(
      team({ guardrails: { output: ['embargo'] }, thread_id: 'blocked' }),
    );
    expect(outcome).toMatchObject({
      status: 'failed',
      output_ref: null,
      verification: { status: 'unverified', attempts: 1 },
    });
    expect(outcome.reason).toContain('the guardrail "embargo" blocked the output');
    const next = await playTeam(
      stage,
      leads([{ output: completed('c1') }]),
      teamInput(['researcher'], { message: 'And?', thread_id: 'blocked' }),
    );
    const known = JSON.stringify(next.calls()[0]?.body);
    expect(known).toContain('what is it of?');
    expect(known).not.toMatch(/Of tin|Of copper/);
  });

  it('waits for the person whom a guardrail asks about it', async () => {
    stage.rehearsal.script([
      ...first('Of tin.'),
      mends('Mended: of iron.'),
      ...judges('fail', 'pass'),
    ]);
    const { outcome } = await outcomeOf(
      team({ guardrails: { output: ['careful'] } }),
      async (run) => {
        const { kind, text } = await openQuestion(stage, run);
        expect([kind, text]).toEqual(['approval', expect.stringContaining('"careful"')]);
        await submit(run, { question_id: 'q1', answer: 'pass', answered_by: 'Maria' });
      },
    );
    expect(outcome).toMatchObject({ status: 'completed', verification: { status: 'verified' } });
  });
});
