import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TeamResult } from '../../../contracts/delegation-run.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { gives, leaderCalls, leads, teamInput } from '../../support/scripted-team.ts';
import { completed } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** A leader that gives one task out and then answers. */
async function ask(
  message: string,
  meanwhile: () => void = () => {},
): Promise<{ readonly runId: string; readonly result: TeamResult }> {
  stage.rehearsal.reset();
  stage.rehearsal.script(
    leads([
      [gives('researcher', `Look into this: ${message}`)],
      async () => {
        meanwhile();
        return { json: { ...completed('c1'), compact_md: `The answer to: ${message}` } };
      },
    ]),
  );
  const input = teamInput(['researcher'], { message, thread_id: 'tea' });
  const handle = await stage.start('team', input);
  const result: TeamResult = await handle.result();
  return { runId: handle.workflowId, result };
}

const firstPrompt = (): string => JSON.stringify(leaderCalls(stage.rehearsal)[0]?.body);

const file = (): string => join(stage.home, 'threads.db');

it('a leader is told what an earlier run of its thread said and gave out', async () => {
  await ask('Which green tea is cheapest?');
  expect(firstPrompt()).not.toContain('The answer to:');
  const { result } = await ask('And which green tea is best?');
  expect(result).toMatchObject({ status: 'completed' });
  const prompt = firstPrompt();
  expect(prompt).toContain('The answer to: Which green tea is cheapest?');
  expect(prompt).toContain('Look into this: Which green tea is cheapest?');
});

describe('a store that is down never fails a team, and it is said', () => {
  it.each([
    ['before it begins', 'Went on without the thread: ', true],
    ['while it works', 'The thread was not added to: ', false],
  ])('fault 35, case 4.2, case 11.2: %s', async (_when, said, isEarly) => {
    const breakIt = (): void => {
      rmSync(file(), { force: true });
      mkdirSync(file());
    };
    if (isEarly) breakIt();
    const { runId, result } = await ask('Which tea now?', isEarly ? undefined : breakIt);
    rmSync(file(), { recursive: true });
    expect(result).toMatchObject({
      status: 'completed',
      answer: expect.stringContaining('It is done.'),
    });
    const notes = result.team?.notes ?? [];
    expect(notes).toEqual(expect.arrayContaining([expect.stringContaining(said)]));
    await expectPromisesKept(stage, runId);
    // Mended, it is used again.
    await ask('Which tea tomorrow?');
    await ask('And the day after?');
    expect(firstPrompt()).toContain('The answer to: Which tea tomorrow?');
  });
});
