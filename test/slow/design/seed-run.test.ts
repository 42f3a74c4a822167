import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { ownToolchain } from '../../../activities/adapters/sandbox/bubblewrap.ts';
import type { Question } from '../../../contracts/question.ts';
import { openCommands } from '../../../worker/open-commands.ts';
import { eventually } from '../../support/eventually.ts';
import { createGitFixture } from '../../support/git-fixture.ts';
import { listActivities } from '../../support/lose-attempts.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { callsOf, newestText } from '../../support/scripted-work.ts';
import { readSeedFiles, readSharedStatus } from '../../support/seed-files.ts';
import { shopFiles } from '../../support/seed-run/repository.ts';
import { answerSeedRun, replyToSeedRun, seedGoal } from '../../support/seed-run/seed-run.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { untilIdle } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

const commands = await openCommands({
  toolchains: ownToolchain(),
  sharedFolders: [],
  unconfined: false,
});
/**
 * Workers that die in every activity between its work and its report. Another one takes over before each answer. At every
 * workflow task would be quadratic in so long a run: `whole-seed.test.ts` has that for a shorter one.
 */
const { stage } = useStage({ commands, losesAttempts: true, shutdownGraceMs: 60_000 });

/** State of the files while a question waits: the status of each agent, and all files that the seed names. */
interface Seen {
  readonly agents: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

/** Moments at which the files are looked at: by the beginning of the question, and what an agent must be by then. */
const moments: readonly (readonly [begin: string, agent: string, status: string])[] = [
  ['Approve the plan', 'model_agent', 'pending'],
  ['The output of write_guide', 'guide_agent', 'blocked'],
  ['In which currency', 'export_agent', 'blocked'],
  ['Which orders', 'command_agent', 'blocked'],
  ['Is every order', 'command_agent', 'failed'],
];

it('one run with all of seed 003 on a repository, taken over before each answer', async () => {
  const { dir } = createGitFixture(shopFiles);
  stage.rehearsal.script([{ reply: replyToSeedRun }]);
  const run = await stage.start('plannerRun', {
    goal: seedGoal,
    mode: 'designed',
    workspace_dir: dir,
    changes: 'apply',
  });
  const { asked, seen } = await answerToTheEnd(run);
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 3 });

  const folder = join(stage.home, run.workflowId);
  const { files, faults } = readSeedFiles(folder);
  expect(faults).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining(['archive/archive_index.json', 'archive/cleanup_log.json']),
  );
  expect(files.filter((path) => /session_current|verification_results/.test(path))).toEqual([]);
  expect(readFileSync(join(folder, 'report.md'), 'utf8')).toContain(
    '`archive/archive_index.json`: the notes of each agent',
  );
  expectStatuses(seen);
  expect(asked.filter((text) => text.includes('orders are'))).toHaveLength(2);
  await expectRecord(run.workflowId);
  expectTold();
  // What the five doers wrote is in the user's folder, and its tests pass.
  expect(readFileSync(join(dir, 'src/export.js'), 'utf8')).toContain('Totals are in Euro cents.');
  expect(readFileSync(join(dir, 'README.md'), 'utf8')).toContain('node src/export-orders.js');
  execFileSync(process.execPath, ['--test'], { cwd: dir, env: { PATH: process.env['PATH'] } });

  const histories = await expectPromisesKept(stage, run.workflowId);
  // The first attempt at each activity was lost.
  const activities = listActivities(histories);
  expect(activities.length).toBeGreaterThan(100);
  expect(activities.filter(({ attempt }) => attempt < 2)).toEqual([]);
}, 900_000);

/** Answers as the user of the run, and looks at the files before it answers at each of the moments. */
async function answerToTheEnd(run: WorkflowHandle) {
  const asked = new Map<string, string>();
  const seen: Record<string, Seen> = {};
  const answer = async (question: Question): Promise<void> => {
    asked.set(question.question_id, question.text);
    const moment = moments.find(([begin]) => question.text.startsWith(begin));
    if (moment !== undefined) seen[moment[0]] = await look(run, moment);
    await stage.stopWorker();
    await stage.startWorker();
    await run.signal('answer', {
      question_id: question.question_id,
      answer: answerSeedRun(question),
    });
  };
  await eventually(
    'the end of the run',
    async () => {
      const { open } = await stage.questions(run);
      for (const question of open) {
        // One after the other: the files are of the moment before the answer.
        // oxlint-disable-next-line no-await-in-loop
        if (!asked.has(question.question_id)) await answer(question);
      }
      return (await run.describe()).status.name !== 'RUNNING';
    },
    800_000,
  );
  return { asked: [...asked.values()], seen };
}

async function look(
  run: WorkflowHandle,
  [begin, agent, status]: readonly [string, string, string],
): Promise<Seen> {
  const folder = join(stage.home, run.workflowId);
  // The files are written once the question is there.
  await eventually(
    `${agent} is ${status} at "${begin}"`,
    async () => readSharedStatus(folder)?.agents[agent]?.status === status,
  );
  await untilIdle(stage, run.workflowId);
  const { files, faults } = readSeedFiles(folder);
  expect(faults).toEqual([]);
  const agents = Object.entries(readSharedStatus(folder)?.agents ?? {});
  return { agents: Object.fromEntries(agents.map(([name, one]) => [name, one.status])), files };
}

function expectStatuses(seen: Readonly<Record<string, Seen>>): void {
  expect(Object.keys(seen)).toEqual(moments.map(([begin]) => begin));
  expect(new Set(Object.values(seen['Approve the plan']?.agents ?? {}))).toEqual(
    new Set(['pending']),
  );
  // The guide waits for the user; what it builds on is verified, although its wave goes on.
  expect(seen['The output of write_guide']).toMatchObject({
    agents: { model_agent: 'verified' },
    files: expect.arrayContaining(['agents/guide_agent/verification_results.json']),
  });
  expect(seen['Is every order']?.agents).toMatchObject({
    export_agent: 'verified',
    import_agent: 'verified',
    architect_agent: 'verified',
  });
}

async function expectRecord(runId: string): Promise<void> {
  const record = await storedRecord(stage.home, runId);
  const { adaptations = [] } = record.design ?? {};
  expect(adaptations.map(({ cause }) => cause)).toMatchObject([
    { type: 'proof_of_concept', assessment: 'pass', decision: 'proceed' },
    { type: 'proof_of_concept', assessment: 'fail', decision: 'adapt' },
    { type: 'loop', root_cause: 'unclear_requirements' },
  ]);
  expect(adaptations.map(({ plan_ref }) => plan_ref === null)).toEqual([true, false, false]);
  const outcomes = record.waves.flatMap((wave) => wave.outcomes);
  const attempts = outcomes.map(({ delegation_id, status, verification }) => [
    delegation_id.replace(/_\d{10}$/, ''),
    status,
    verification?.attempts,
  ]);
  expect(attempts).toEqual(
    expect.arrayContaining([
      ['define_fields', 'completed', 1],
      ['write_guide', 'completed', 6],
      ['write_export', 'completed', 2],
      ['write_import', 'completed', 1],
      ['decision_w2n1', 'completed', 1],
      ['write_command', 'failed', 0],
      ['write_command-2', 'completed', 1],
      ['count_lines', 'completed', 1],
    ]),
  );
  expect(record.criteria.map(({ state }) => state)).toEqual(record.criteria.map(() => 'met'));
  expect(record.criteria.map(({ criterion_id }) => criterion_id)).not.toContain(
    'decided-decision_w2n1',
  );
  expect(record.answered_questions.map(({ answered_by }) => answered_by)).toContain(
    'solution-architect',
  );
  const byCommand = record.effects?.filter(({ receipt }) => receipt?.command !== undefined) ?? [];
  expect(byCommand.map(({ receipt }) => receipt?.command?.exit_code)).toContain(1);
}

/** Texts of the work on a task, in the order in which they were sent. */
function textsOf(task: string): string {
  const { rehearsal } = stage;
  const made = new RegExp(`/(${task}_\\d{10})/`);
  const id = rehearsal.calls().flatMap(({ callKey }) => made.exec(callKey)?.[1] ?? [])[0] ?? '';
  return callsOf(rehearsal, id).map(newestText).join('\n');
}

/** Checks that answers and changes of the plan stand in the prompts of those who need them. */
function expectTold(): void {
  expect(textsOf('write_import')).toContain('Code of our own');
  expect(textsOf('write_import')).toContain('character by character');
  expect(textsOf('write_command-2')).toContain('All orders are printed.');
}
