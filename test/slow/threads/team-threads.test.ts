import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { LoneOutcome } from '../../../contracts/delegation-run.ts';
import type { TeamInput } from '../../../contracts/team.ts';
import type { LeaderReply } from '../../support/scripted-team.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  does,
  gives,
  leaderCalls,
  leads,
  loneTeam,
  teamInput,
} from '../../support/scripted-team.ts';
import { runCommand } from '../../support/run-command.ts';
import { completed, held, newestText } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { teamOf } from '../../support/executors.ts';

const { stage } = useStage();

interface Asked {
  readonly runId: string;
  readonly result: LoneOutcome;
  /** First prompt of its leader. */
  readonly prompt: string;
}

const input = (message: string, over: Partial<TeamInput> = {}): TeamInput =>
  teamInput(['researcher'], { message, thread_id: 'tea', ...over });

const answerTo = (message: string) => {
  return { json: { ...completed('c1'), compact_md: `The answer to: ${message}` } };
};

async function play(message: string, over: Partial<TeamInput> = {}): Promise<Asked> {
  const handle = await stage.start('team', input(message, over));
  const result: LoneOutcome = await handle.result();
  const [first] = leaderCalls(stage.rehearsal);
  return { runId: handle.workflowId, result, prompt: newestText(first) };
}

/** A leader that gives these tasks out, one if nothing is said, and then answers. */
function ask(
  message: string,
  { tasks, meanwhile = () => {} }: { tasks?: LeaderReply; meanwhile?: () => void } = {},
): Promise<Asked> {
  stage.rehearsal.reset();
  stage.rehearsal.script(
    leads([
      tasks ?? [gives('researcher', `Look into this: ${message}`)],
      async () => {
        meanwhile();
        return answerTo(message);
      },
    ]),
  );
  return play(message);
}

const file = (): string => join(stage.home, 'threads.db');

it('case 4.1: without a thread no store is touched, and for one no store has to be set up', async () => {
  stage.rehearsal.script(leads([answerTo('nothing')]));
  const { runId, result } = await play('Which tea?', { thread_id: undefined });
  expect(result).toMatchObject({ status: 'completed', executor: { work: { notes: [] } } });
  expect(existsSync(file())).toBe(false);
  await expectPromisesKept(stage, runId);
  await ask('Which tea is there?');
  expect(existsSync(file())).toBe(true);
  rmSync(file());
});

it('case 4.3: a thread that is new is told nothing of; the run after it hears what was said and given out', async () => {
  const first = await ask('Which green tea is cheapest?');
  expect(teamOf(first.result)?.notes).toEqual(['The thread is new.']);
  for (const word of ['thread_messages', 'past_delegations', 'The answer to:']) {
    expect(first.prompt).not.toContain(word);
  }
  const { runId, result, prompt } = await ask('And which green tea is best?');
  const told = 'Of the thread the leader was told 2 messages and answers and 1 past delegation.';
  expect(result).toMatchObject({ status: 'completed', executor: { work: { notes: [told] } } });
  expect(prompt).toContain('The answer to: Which green tea is cheapest?');
  expect(prompt).toContain('Look into this: Which green tea is cheapest?');
  await expectPromisesKept(stage, runId);
});

it('a delegation of long ago is found by its words, and by no others', async () => {
  const result = 'Peppermint keeps for a year.';
  stage.rehearsal.script([
    ...leads([[gives('researcher', 'How long does peppermint last?')], answerTo('keeping')]),
    does({}, { json: { ...completed('c1'), compact_md: result } }),
  ]);
  const over = { thread_id: 'herbs' };
  await play('About keeping herbs', over);
  // More than the newest that every leader is told.
  const others = [1, 2, 3, 4, 5, 6].map((n) =>
    gives('researcher', `Count the kettles of room ${n}.`),
  );
  stage.rehearsal.reset();
  stage.rehearsal.script(leads([others, answerTo('kettles')]));
  await play('About kettles', over);
  const prompts: string[] = [];
  for (const message of ['Is old peppermint still good?', 'Count kettles again.']) {
    stage.rehearsal.reset();
    stage.rehearsal.script(leads([answerTo('it')]));
    prompts.push((await play(message, over)).prompt);
  }
  expect(prompts.map((prompt) => prompt.includes(result))).toEqual([true, false]);
});

it('two runs of one thread at the same time keep both: neither hears the other, the next hears both', async () => {
  const [left, right] = ['What is black tea?', 'What is white tea?'] as const;
  const gates = [left, right].map((message) => held(answerTo(message)));
  stage.rehearsal.script(
    [left, right].map((message, at) => ({
      match: { leads: true, bodyIncludes: message },
      reply: gates[at]?.reply ?? answerTo(''),
    })),
  );
  const over = { thread_id: 'crowded' };
  const playing = [left, right].map((message) => play(message, over));
  await stage.rehearsal.waitForCalls(2);
  for (const { release } of gates) release();
  const ended = await Promise.all(playing);
  for (const { result } of ended) {
    const notes = ['The thread is new.'];
    expect(result).toMatchObject({ status: 'completed', executor: { work: { notes } } });
  }
  for (const call of leaderCalls(stage.rehearsal)) {
    expect(newestText(call)).not.toContain('The answer to:');
  }
  stage.rehearsal.reset();
  stage.rehearsal.script(leads([answerTo('both')]));
  const { prompt, runId } = await play('And now?', over);
  for (const message of [left, right]) {
    expect(prompt).toContain(message);
    expect(prompt).toContain(`The answer to: ${message}`);
  }
  await expectPromisesKept(stage, runId);
});

it('people look into a thread and delete it, and no leader hears of it again', async () => {
  const over = { thread_id: 'looked/into', user_id: 'anna' };
  stage.rehearsal.reset();
  stage.rehearsal.script(leads([[gives('researcher', 'Look for rooibos.')], answerTo('rooibos')]));
  const { runId } = await play('Which rooibos?', over);
  const planwave = (...argv: string[]) => runCommand(stage, ['threads', ...argv]);
  expect((await planwave()).out).toMatch(/^looked\/into +1 +\S+ \S+ +anna$/m);
  const { out } = await planwave('show', 'looked/into');
  expect(out).toContain(`${runId} ${loneTeam} · anna\n  message:\n    Which rooibos?\n`);
  expect(out).toContain('    The answer to: rooibos\n');
  expect(out).toMatch(/gave out: \S+ · researcher · .* · completed\n {4}Look for rooibos\./);
  expect((await planwave('delete', '--user', 'anna', '--yes')).out).toBe(
    'Deleted the entries of "anna" in 1 thread: 1 entry with 1 delegation.\n',
  );
  expect((await planwave('show', 'looked/into')).code).toBe(4);
  stage.rehearsal.reset();
  stage.rehearsal.script(leads([answerTo('it')]));
  const { result, prompt } = await play('Which rooibos was it?', over);
  expect(teamOf(result)?.notes).toEqual(['The thread is new.']);
  expect(prompt).not.toContain('Look for rooibos.');
});

it('case 4.4: past delegations that can not be read cost themselves, and it is said', async () => {
  await ask('Which oolong?');
  const db = new Database(file());
  db.exec(`UPDATE planwave_thread_delegations SET body = '{"title"'`);
  db.close();
  const { runId, result, prompt } = await ask('Which oolong is better?');
  expect(result).toMatchObject({ status: 'completed' });
  expect(teamOf(result)?.notes).toEqual([
    'Of the thread the leader was told 6 messages and answers and 0 past delegations. ' +
      'Past messages and delegations that could not be read were left out.',
  ]);
  expect(prompt).toContain('The answer to: Which oolong?');
  expect(prompt).not.toContain('Look into this: Which oolong?');
  await expectPromisesKept(stage, runId);
});

describe('fault 35: a store that is down never fails a team, and it is said', () => {
  it.each([
    ['case 4.2: before it begins', 'Went on without the thread: ', true],
    ['case 11.2: while it works', 'The thread was not added to: ', false],
  ])('%s', async (_when, said, isEarly) => {
    const breakIt = (): void => {
      rmSync(file(), { force: true });
      mkdirSync(file());
    };
    if (isEarly) breakIt();
    const { runId, result } = await ask('Which tea now?', isEarly ? {} : { meanwhile: breakIt });
    rmSync(file(), { recursive: true });
    expect(result).toMatchObject({
      status: 'completed',
      delegation_id: loneTeam,
      answer: expect.stringContaining('It is done.'),
    });
    const notes = teamOf(result)?.notes ?? [];
    expect(notes).toEqual(expect.arrayContaining([expect.stringContaining(said)]));
    await expectPromisesKept(stage, runId);
    // Mended, it is used again.
    await ask('Which tea tomorrow?');
    expect((await ask('And the day after?')).prompt).toContain(
      'The answer to: Which tea tomorrow?',
    );
  });
});
