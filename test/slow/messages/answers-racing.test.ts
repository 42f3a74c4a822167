import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { createPlanwaveClient } from '../../../client/planwave-client.ts';
import type { RunRecord } from '../../../contracts/run-record.ts';
import type { QuestionsView } from '../../../contracts/views.ts';
import { askFromElsewhere } from '../../support/as-child.ts';
import { openQuestions } from '../../support/asking.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  completed,
  decision,
  held,
  notYet,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord, storedText } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage({
  serverArguments: ['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=30'],
});

const goal = 'Host the backup';

/** Reply to the sender: accepted, refused with the reason, or only recorded by the server. */
type Told = 'taken' | 'recorded' | { readonly reason: string };

/** Every second answer goes by the raw signal, the others by the client; some are too long for history. */
async function send(run: WorkflowHandle, id: string, race: number): Promise<Told> {
  const answer = answerOf(race);
  if (race % 2 === 0) {
    return run.signal('answer', { question_id: id, answer }).then(
      () => 'recorded' as const,
      (error: unknown) => ({ reason: String(error) }),
    );
  }
  const { connection } = stage.client;
  const client = createPlanwaveClient({
    connection,
    address: stage.address,
    namespace: 'default',
    taskQueue: stage.taskQueue,
  });
  const result = await client.answer(run.workflowId, { question_id: id, answer });
  if (result.status === 'refused') return { reason: result.reason };
  return result.status === 'accepted' ? 'taken' : 'recorded';
}

function answerOf(race: number): string {
  const text = `answer ${race}`;
  return race % 4 < 2 ? text : `${text} ${'with much to say '.repeat(100)}`;
}

/** How each race of a run ended. */
async function judgeAll(
  run: WorkflowHandle,
  questionIds: readonly string[],
  told: readonly Told[],
): Promise<string[]> {
  const view = await stage.questions(run);
  const record = await storedRecord(stage.home, run.workflowId);
  return Promise.all(
    questionIds.map((id, nth) =>
      judge(view, record, { id, nth, told: told[nth] ?? { reason: '' } }),
    ),
  );
}

interface Race {
  readonly id: string;
  readonly nth: number;
  readonly told: Told;
}

/** `applied` or `refused`, where what was kept, in the view and on the disk, fits what was told. Else what does not. */
async function judge(
  { answered, rejected }: QuestionsView,
  record: RunRecord,
  { id, nth, told }: Race,
): Promise<string> {
  const isUsers = (one: { question_id: string; answered_by: string }): boolean =>
    one.question_id === id && one.answered_by === 'user';
  const kept = record.answered_questions.find(isUsers);
  const reason =
    typeof told === 'object' ? told.reason : rejected.find((one) => one.question_id === id)?.reason;
  const isShown = answered.some(isUsers);
  const facts = JSON.stringify({ nth, id, told, reason, isShown, kept });
  if (kept === undefined) {
    const isTold = told !== 'taken' && Boolean(reason?.trim()) && !isShown;
    return isTold ? 'refused' : `lost in silence: ${facts}`;
  }
  const { answer, answer_ref } = kept;
  const text = answer_ref === null ? answer : await storedText(stage.home, answer_ref);
  if (text !== answerOf(nth)) return `changed: ${facts}`;
  return reason === undefined && isShown ? 'applied' : `applied and refused: ${facts}`;
}

/** Asks a question for each race. */
function askNth(run: WorkflowHandle, nth: number): Promise<void> {
  return askFromElsewhere(stage, run, question(`Who pays for ${nth}?`), `by-hand#${nth}`);
}

/** One run, many races: so many questions are open when the other side comes. */
interface Field {
  readonly run: WorkflowHandle;
  readonly questionIds: readonly string[];
  /** Cancels the run, or lets it go on to its end. */
  readonly end: () => Promise<unknown>;
  /** Milliseconds by which the first answer is ahead; the last is as much behind. */
  readonly spreadMs: number;
}

/** Answers that come one by one, the first well before the end, the last when all is over. */
async function raceWithEnd({ run, questionIds, end, spreadMs }: Field): Promise<Told[]> {
  const [last = '', ...others] = questionIds.toReversed();
  const [first = '', ...racing] = others.toReversed();
  const toldFirst = await send(run, first, 0);
  const ending = sleep(spreadMs).then(end);
  const told = await Promise.all(
    racing.map(async (id, index) => {
      await sleep((index / racing.length) * 2 * spreadMs);
      return send(run, id, index + 1);
    }),
  );
  await ending;
  await run.result();
  return [toldFirst, ...told, await send(run, last, questionIds.length - 1)];
}

/** The end of every race in one run. The first and the last are certain: the fault fired. */
async function expectNoneLost(field: Field): Promise<void> {
  const told = await raceWithEnd(field);
  const outcomes = await judgeAll(field.run, field.questionIds, told);
  expect(outcomes.filter((outcome) => !/^(?:applied|refused)$/.test(outcome))).toEqual([]);
  expect(outcomes[0]).toBe('applied');
  expect(outcomes.at(-1)).toBe('refused');
  await expectPromisesKept(stage, field.run.workflowId);
}

it.each(['cancel', 'stop'] as const)(
  'fault 41: 18 answers race with %s: applied or refused, never lost',
  async (how) => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    stage.rehearsal.script([
      plans(1, plan(ids.map((id) => work(id)))),
      ...ids.flatMap((id) => [
        works(
          id,
          {
            json: blocked(
              [1, 2, 3].map((n) => question(`${id} ${n}?`)),
              `${id}-done`,
            ),
          },
          1,
        ),
        works(id, { json: completed(`${id}-done`) }),
      ]),
    ]);
    const run = await stage.start('plannerRun', { goal, limits: { max_parallel: 6 } });
    const open = await openQuestions(stage, run, 18);
    await expectNoneLost({
      run,
      questionIds: open.map(({ question_id }) => question_id),
      end: () => (how === 'cancel' ? run.cancel() : run.signal('stop', { reason: 'enough' })),
      spreadMs: 40,
    });
    expect(await stage.result(run)).toMatchObject({ status: 'stopped' });
  },
);

it.each([20, 80])(
  'fault 41: 20 answers race with the end of their run, within %i ms: applied or refused, never lost',
  async (spreadMs) => {
    const end = held({ json: decision() });
    stage.rehearsal.script([
      plans(1, plan([work('host')])),
      works('host', { json: completed('host-done') }),
      { match: { schema: 'decision' }, reply: end.reply },
    ]);
    const run = await stage.start('plannerRun', { goal });
    for (let nth = 0; nth < 20; nth += 1) await askNth(run, nth);
    const open = await openQuestions(stage, run, 20);
    await stage.rehearsal.waitForCalls(3);
    await expectNoneLost({
      run,
      questionIds: open.map(({ question_id }) => question_id),
      end: async () => end.release(),
      spreadMs,
    });
    expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  },
);

/** As many waves, the last of which meets the user's criterion. Each wave's decision waits to be let go. */
function scriptWaves(count: number): readonly (() => void)[] {
  const waves = Array.from({ length: count }, (_, index) => ({
    id: `step-${index + 1}`,
    output:
      index + 1 === count ? completed(`step-${count}-done`, 'goal-1') : notYet(`step-${index + 1}`),
    end: held({ json: decision(...(index + 1 === count ? [] : ['goal-1'])) }),
  }));
  stage.rehearsal.script(
    waves.flatMap(({ id, output, end }, index) => [
      plans(index + 1, plan([work(id, { criteria: [`${id}-done`, 'goal-1'] })])),
      works(id, { json: output }),
      { match: { schema: 'decision', nth: index + 1 }, reply: end.reply },
    ]),
  );
  return waves.map(({ end }) => end.release);
}

it('fault 41: 24 answers race with continue-as-new: all applied, none twice', async () => {
  const waves = 6;
  const perWave = 4;
  const releases = scriptWaves(waves);
  const run = await stage.start('plannerRun', {
    goal,
    criteria: ['The backup was restored once.'],
    limits: { max_waves: waves },
  });
  const races = waves * perWave;
  for (let nth = 0; nth < races; nth += 1) await askNth(run, nth);
  const open = await openQuestions(stage, run, races);
  const told: Told[] = [];
  for (const [wave, release] of releases.entries()) {
    await stage.rehearsal.waitForCalls(3 * (wave + 1));
    const racing = Array.from({ length: perWave }, (_, index) => wave * perWave + index);
    const answers = racing.map(async (race, index) => {
      // The decision takes some 50 ms to the end of its wave, and the new run begins soon after.
      await sleep(15 * (index + 1) * (1 + (wave % 4)));
      told[race] = await send(run, open[race]?.question_id ?? '', race);
    });
    release();
    // The answers of the last wave race with the end, which is another test's.
    if (wave === waves - 1) await run.result();
    await Promise.all(answers);
  }
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves });
  const ids = open.map(({ question_id }) => question_id);
  const outcomes = await judgeAll(run, ids, told);
  expect(outcomes.slice(0, -perWave)).toEqual(Array(races - perWave).fill('applied'));
  expect(outcomes.slice(-perWave).filter((one) => !/^(?:applied|refused)$/.test(one))).toEqual([]);
  const histories = await expectPromisesKept(stage, run.workflowId);
  const runs = histories.filter(({ workflowId }) => workflowId === run.workflowId);
  expect(runs.length).toBeGreaterThanOrEqual(waves - 1);
});
