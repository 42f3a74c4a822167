import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { Middleware } from '../../../activities/ports/middleware.ts';
import type { DelegationOutcome, LoneOutcome } from '../../../contracts/delegation-run.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { TeamInput } from '../../../contracts/team.ts';
import type { RecordedCall } from '../../../rehearsal/script.ts';
import { openQuestion, refusalOf, submit } from '../../support/asking.ts';
import { playTeam, readTeam } from '../../support/play-team.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  does,
  gives,
  leaderCalls,
  leads,
  loneTeam,
  taskCriterion,
  teamInput,
  teamWork,
} from '../../support/scripted-team.ts';
import { completed } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { teamOf } from '../../support/executors.ts';

const number = '+49 170 5556677';
const masked = '[phone number]';
const answer = 'The kettle is made of copper.';
const away = 'the list of names is away';
const careful = 'It is about a competitor.';

/** `<run_id> <name> <stage>` of every call of a function. */
const applied: string[] = [];

function own(
  name: string,
  kind: Middleware['kind'],
  apply: (text: string) => ReturnType<Middleware['apply']>,
): Middleware {
  return {
    name,
    kind,
    stages: ['input', 'output'],
    apply(text, { run_id, stage }) {
      applied.push(`${run_id} ${name} ${stage}`);
      return apply(text);
    },
  };
}

const fail = (): never => {
  throw new Error(away);
};

const { stage } = useStage({
  middlewares: [
    own('mask', 'middleware', (text) => ({
      type: 'pass',
      text: text.replaceAll(number, masked),
      note: 'looked for numbers',
    })),
    own('one', 'middleware', (text) => ({ type: 'pass', text: `${text} one` })),
    own('two', 'middleware', (text) => ({ type: 'pass', text: `${text} two` })),
    own('broken', 'middleware', fail),
    own('embargo', 'guardrail', (text) =>
      /ACME|copper/u.test(text)
        ? { type: 'block', reason: 'That is under an embargo.' }
        : { type: 'pass' },
    ),
    own('order', 'guardrail', (text) =>
      text.endsWith('one two')
        ? { type: 'pass', text: `${text} three` }
        : { type: 'block', reason: `It came as: ${text.slice(-20)}` },
    ),
    own('careful', 'guardrail', () => ({ type: 'ask', reason: careful })),
    own('broken-guard', 'guardrail', fail),
  ],
});

const done = { ...completed(taskCriterion), compact_md: answer, detailed_md: `# It\n\n${answer}` };

/** Every leader answers at once. */
const scriptAnswers = () =>
  stage.rehearsal.script([{ match: { leads: true }, reply: { json: done } }]);

/** A team that has ended, and what it left. */
interface Ended {
  readonly runId: string;
  readonly result: LoneOutcome;
  readonly calls: readonly RecordedCall[];
  /** Every file of the run for people, as one text. */
  readonly files: string;
}

function start(over: Partial<TeamInput>): Promise<WorkflowHandle> {
  return stage.start(
    'team',
    teamInput(['researcher'], { message: 'What is it made of?', ...over }),
  );
}

async function endOf(run: WorkflowHandle): Promise<Ended> {
  const result: LoneOutcome = await run.result();
  const folder = join(stage.home, run.workflowId);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  const calls = stage.rehearsal.calls().filter(({ callKey }) => callKey.includes(run.workflowId));
  return { runId: run.workflowId, result, calls, files: files.join('\n') };
}

const appliedIn = ({ runId }: Ended): string[] =>
  applied.filter((one) => one.startsWith(`${runId} `)).map((one) => one.slice(runId.length + 1));

const reportOf = async ({ runId, result }: Ended) => (await readTeam(stage, runId, result)).report;

/** Throwing ones are called three times, seconds apart: all these teams work at the same time. */
describe('fault 32: a function that throws or blocks', () => {
  const inputs = {
    inputThrows: {
      input_middlewares: ['one', 'broken', 'two'],
      guardrails: { input: ['embargo'] },
    },
    inputBlocks: {
      message: 'Ask ACME.',
      guardrails: { input: ['embargo', 'careful'] },
      timeout: 60,
      member_timeout: 61,
    },
    inputGuardThrows: { guardrails: { input: ['broken-guard'] } },
    outputThrows: { output_middlewares: ['broken', 'two'] },
    outputBlocks: { guardrails: { output: ['embargo', 'careful'] }, thread_id: 'kettles' },
    outputGuardThrows: { guardrails: { output: ['broken-guard'] } },
  } as const satisfies Readonly<Record<string, Partial<TeamInput>>>;
  const ended = new Map<string, Ended>();
  const of = (which: keyof typeof inputs): Ended => {
    const one = ended.get(which);
    if (one === undefined) throw new Error(`${which} has not ended.`);
    return one;
  };

  beforeAll(async () => {
    scriptAnswers();
    await Promise.all(
      Object.entries(inputs).map(async ([which, input]) => {
        ended.set(which, await endOf(await start(input)));
      }),
    );
    await Promise.all([...ended.values()].map(({ runId }) => expectPromisesKept(stage, runId)));
  });

  it('case 9.1: a middleware before the leader that throws ends the team, named with what it said, and no model is called', async () => {
    const { result, calls, files } = of('inputThrows');
    const said = `the middleware "broken" failed on the input: ${away}`;
    expect(result).toMatchObject({ status: 'failed', output_ref: null, answer: '' });
    expect([result.reason, files]).toEqual([said, expect.stringContaining(said)]);
    expect(await reportOf(of('inputThrows'))).toMatchObject({ status: 'blocked', reason: said });
    expect([calls.length, result.usage.calls]).toEqual([0, 0]);
    // In order, and the one that throws again in case it was the moment's fault; nothing after it.
    const three = ['broken input', 'broken input', 'broken input'];
    expect(appliedIn(of('inputThrows'))).toEqual(['one input', ...three]);
  });

  it('case 9.2: one behind the leader that throws is left out, and the notes say so', async () => {
    const { result, files } = of('outputThrows');
    const said = `the middleware "broken" failed on the output: ${away}. The answer went on without it.`;
    // The one after it is applied all the same.
    expect(result).toMatchObject({ status: 'completed', answer: `# It\n\n${answer} two` });
    expect(teamOf(result)?.notes).toEqual([said]);
    expect((await reportOf(of('outputThrows'))).notes).toEqual([said]);
    expect(files).toContain('failed on the output');
  });

  it('case 9.3: a guardrail that blocks the message ends the team with its reason, which is in its report, and no model is called', async () => {
    const { runId, result, calls, files } = of('inputBlocks');
    const said = 'the guardrail "embargo" blocked the input: That is under an embargo.';
    expect(result).toMatchObject({ status: 'failed', output_ref: null, answer: '', reason: said });
    expect(files).toContain(said);
    const { report, page } = await readTeam(stage, runId, result);
    expect(report).toMatchObject({ status: 'blocked', reason: said, tasks: [], output_ref: null });
    expect(page).toContain(`**State:** blocked: ${said}`);
    expect(page).toContain('The message did not reach the leader.');
    // What people should know of how it began, they are told all the same.
    expect(teamOf(result)?.notes).toEqual([expect.stringMatching(/^member_timeout was lowered /)]);
    expect([calls.length, result.usage.calls]).toEqual([0, 0]);
    expect(appliedIn(of('inputBlocks'))).toEqual(['embargo input']);
  });

  it('case 9.3: one that blocks the answer ends the team with its reason, and the answer is nowhere', async () => {
    const { runId, result, files } = of('outputBlocks');
    const said =
      'the guardrail "embargo" blocked the output: compact_md: That is under an embargo.';
    expect(result).toMatchObject({ status: 'failed', output_ref: null, answer: '', reason: said });
    expect(await reportOf(of('outputBlocks'))).toMatchObject({
      status: 'blocked',
      output_ref: null,
    });
    expect(files).toContain(said);
    expect(files).not.toContain('copper');
    expect(appliedIn(of('outputBlocks'))).toEqual(['embargo output']);
    // Who goes on in the thread is told the question, and no answer.
    stage.rehearsal.script(leads([{ output: completed(taskCriterion) }]));
    const next = await endOf(await start({ message: 'And now?', thread_id: 'kettles' }));
    const told = JSON.stringify(next.calls[0]?.body);
    expect(told).toContain('What is it made of?');
    expect(told).not.toContain('copper');
    expect(runId).not.toBe(next.runId);
  });

  it.each([
    ['inputGuardThrows', 'input', 0],
    ['outputGuardThrows', 'output', 1],
  ] as const)('case 9.3: a guardrail that throws blocks: %s', (which, where, leaderCallsMade) => {
    const { result, calls, files } = of(which);
    expect(result).toMatchObject({ status: 'failed', output_ref: null, answer: '' });
    expect(result.reason).toBe(`the guardrail "broken-guard" failed on the ${where}: ${away}`);
    expect(calls).toHaveLength(leaderCallsMade);
    expect(files).not.toContain('copper');
  });
});

describe('fault 32: a guardrail that asks', () => {
  it('case 9.3: is overruled by the pass of a person, before the leader and behind it', async () => {
    scriptAnswers();
    const run = await start({ guardrails: { input: ['careful'], output: ['careful'] } });
    const first = await openQuestion(stage, run);
    expect(first).toMatchObject({
      kind: 'approval',
      delegation_id: loneTeam,
      choices: ['pass', 'block'],
    });
    expect(first.text).toContain(`May the input of the team pass the guardrail "careful"?`);
    expect(first.text).toContain(careful);
    expect(stage.rehearsal.calls()).toEqual([]);
    await submit(run, { question_id: 'q1', answer: 'pass', answered_by: 'Maria' });
    // Both texts of the answer in one question.
    const second = await openQuestion(stage, run, 'q2');
    expect(second.text).toContain(`Found: compact_md: ${careful}; detailed_md: ${careful}`);
    await submit(run, { question_id: 'q2', answer: 'pass', answered_by: 'Maria' });
    const { result } = await endOf(run);
    expect(result).toMatchObject({ status: 'completed', answer: done.detailed_md });
    expect(teamOf(result)?.notes).toEqual([
      'careful: Maria (self-stated) let the input pass.',
      'careful: Maria (self-stated) let the output pass.',
    ]);
    await expectPromisesKept(stage, run.workflowId);
  });

  it.each([
    ['input', 0],
    ['output', 1],
  ] as const)(
    'case 9.3: a person who says block at the %s blocks it',
    async (where, leaderCallsMade) => {
      scriptAnswers();
      const run = await start({ guardrails: { [where]: ['careful'] } });
      await openQuestion(stage, run);
      await submit(run, { question_id: 'q1', answer: 'block' });
      const { result, calls, files } = await endOf(run);
      expect(result).toMatchObject({ status: 'failed', output_ref: null, answer: '' });
      expect(result.reason).toContain('the guardrail "careful" was not overruled: ');
      expect(result.reason).toContain(careful);
      expect(calls).toHaveLength(leaderCallsMade);
      expect(files).not.toContain('copper');
      await expectPromisesKept(stage, run.workflowId);
    },
  );

  it('case 9.3: below a wave neither planner nor default nor assumption lets it pass', async () => {
    scriptAnswers();
    const team = { team_id: 'guarded', members: [{ id: 'researcher' }] };
    const run = await stage.start('plannerWave', {
      goal: 'Find out what it is made of',
      delegations: [teamWork('ask', { team_id: 'guarded' })],
      teams: [{ ...team, guardrails: { input: ['careful'] } }],
      autonomy: 'assume',
      use_defaults: true,
    });
    const asked = await openQuestion(stage, run);
    expect(asked).toMatchObject({ kind: 'approval', delegation_id: 'ask', default_answer: null });
    expect(stage.rehearsal.calls()).toEqual([]);
    // A text that is none of the choices is none of a person who has read them.
    const { reason } = await refusalOf(run, { question_id: 'q1', answer: 'pass it on' });
    expect(reason).toContain('"pass"');
    expect(stage.rehearsal.calls()).toEqual([]);
    await submit(run, { question_id: 'q1', answer: 'block' });
    const { outcomes }: WaveResult = await run.result();
    const [outcome]: readonly DelegationOutcome[] = outcomes;
    expect(outcome).toMatchObject({ status: 'failed', output_ref: null, usage: { calls: 0 } });
    expect(outcome?.reason).toContain('was not overruled');
    expect(leaderCalls(stage.rehearsal, 'ask')).toEqual([]);
    const shapes = stage.rehearsal.calls().map(({ shape }) => shape);
    expect(new Set(shapes)).toEqual(new Set(['decision']));
    await expectPromisesKept(stage, run.workflowId);
  });
});

it('case 9.2: several work in their order, each on what the one before it left, guardrails last', async () => {
  const { result, report, calls } = await playTeam(
    stage,
    leads([{ output: done }]),
    teamInput(['researcher'], {
      message: 'Say',
      input_middlewares: ['one', 'two'],
      output_middlewares: ['one', 'two'],
      guardrails: { input: ['order'], output: ['order'] },
    }),
  );
  expect(JSON.stringify(calls()[0]?.body)).toContain('Say one two three');
  expect(result.answer).toBe(`${done.detailed_md} one two three`);
  expect(report.notes).toEqual([]);
});

it('case 9.3: what members brought does not pass a guardrail for the output by a leader that fails', async () => {
  const { result, report, page } = await playTeam(
    stage,
    [
      ...leads([[gives('researcher')], { status: 400, message: 'This model refuses.' }]),
      does({}, { json: done }),
    ],
    teamInput(['researcher'], { guardrails: { output: ['embargo'] } }),
  );
  expect(report.tasks).toMatchObject([{ status: 'completed' }]);
  expect(result).toMatchObject({ status: 'failed', output_ref: null, answer: '' });
  const said = 'What members brought is not handed on in place of an answer';
  expect(teamOf(result)?.notes).toEqual([expect.stringContaining(said)]);
  expect(page).toContain(said);
});

it('case 9.1: leader, members and teams among them read the message as a middleware left it, and nothing of the old one', async () => {
  const message = `Call ${number} and say hello.\n\nThe number ${number} is the right one.`;
  const { report, calls, page } = await playTeam(
    stage,
    [
      ...leads([[gives('researcher'), gives('desk', 'Ask around.')], { output: done }]),
      ...leads([[gives('writer')], { output: completed(taskCriterion) }], `${loneTeam}.d2`),
      does({}, { json: completed(taskCriterion) }),
    ],
    teamInput(['researcher', { id: 'desk', team_id: 'desk' }], {
      message,
      teams: [{ team_id: 'desk', members: [{ id: 'writer' }] }],
      input_middlewares: ['mask'],
      thread_id: 'masked',
    }),
  );
  expect(report.tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(report.notes).toEqual(['mask: looked for numbers', 'The thread is new.']);
  expect(page).not.toContain(number);
  const prompts = calls().map(({ body }) => JSON.stringify(body));
  // Two leaders of two calls each, and two members.
  expect(prompts).toHaveLength(6);
  for (const prompt of prompts) {
    expect(prompt).toContain(`Call ${masked} and say hello.`);
    expect(prompt).not.toContain(number);
  }
  // The thread keeps it so as well.
  const next = await playTeam(
    stage,
    leads([{ output: done }]),
    teamInput(['researcher'], { message: 'Whom?', thread_id: 'masked' }),
  );
  const told = JSON.stringify(next.calls()[0]?.body);
  expect(told).toContain(`Call ${masked} and say hello.`);
  expect(told).not.toContain(number);
});
