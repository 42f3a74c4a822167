import { runInNewContext } from 'node:vm';
import { ApplicationFailure, Context } from '@temporalio/activity';
import {
  EvaluationInput,
  type CellResult,
  type Grade,
  type GradeCellInput,
  type GradedCell,
  type EvaluationActivities,
} from '../../contracts/evaluation.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { gradersOf, partsOf, type NamedGrader } from '../../core/evaluation/matrix.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { isUnanswered } from '../../core/run/decide-next-step.ts';
import { listChanges } from '../../core/workspace/run-changes.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { RunIndex } from '../ports/artifact-store.ts';
import { WorkspaceRefused, type WorkspacePlace } from '../ports/workspaces.ts';
import { loadAnswer } from '../projection/find-answer.ts';
import { checkEvidence, validateJson, type EvidenceDeps } from '../verification/check-evidence.ts';
import { whileCurrent, withHeartbeat, type AssertCurrent } from '../attempt/heartbeat.ts';
import { keepCell, openEvaluation, type OpenEvaluationDeps } from './open-evaluation.ts';
import { messageOf } from '../../core/text/message-of.ts';

interface GradeCellDeps extends EvidenceDeps {
  readonly index: Pick<RunIndex, 'read'>;
}

const reasonCharsMax = 300;

/** Milliseconds for a regular expression: it is a person's, and may take for ever on some text. */
const patternMs = 1_000;

/**
 * Judges the answer of a run by all graders that need no model.
 *
 * @param assertCurrent Throws when another attempt may have taken over the work.
 */
export async function gradeCell(
  deps: GradeCellDeps,
  { input_ref, cell, run_id }: GradeCellInput,
  assertCurrent: AssertCurrent,
): Promise<GradedCell> {
  const { ref } = await deps.index.read(run_id);
  if (ref === null) {
    return failedCell('The run has no record.');
  }
  const input = await readShape(deps.store, input_ref, EvaluationInput, 'an evaluation');
  const record = await readRecord(deps.store, ref);
  const { text: answer } = await loadAnswer(deps.store, record);
  const grades: Grade[] = [];
  for (const grader of gradersOf(input, partsOf(input, cell).goal)) {
    if (grader.kind === 'rubric') continue;
    // Commands work in one folder.
    // oxlint-disable-next-line no-await-in-loop
    const grade = await judge(deps, grader, { answer, record, assertCurrent });
    grades.push({ grader: grader.name, ...grade, reason: cutText(grade.reason, reasonCharsMax) });
  }
  return { ...statusOf(record), grades, answer_ref: await deps.store.put(answer) };
}

function statusOf({ status, stop_reason }: RunRecord): Pick<CellResult, 'status' | 'reason'> {
  if (isUnanswered(stop_reason)) {
    return { status: 'waits_for_user', reason: cutText(stop_reason ?? '', reasonCharsMax) };
  }
  return { status: status ?? 'failed', reason: cutText(stop_reason ?? '', reasonCharsMax) };
}

type Judged = Omit<Grade, 'grader'>;

interface Judging {
  readonly answer: string;
  readonly record: RunRecord;
  readonly assertCurrent: AssertCurrent;
}

async function judge(
  deps: GradeCellDeps,
  grader: Exclude<NamedGrader, { kind: 'rubric' }>,
  judging: Judging,
): Promise<Judged> {
  const { answer, record } = judging;
  switch (grader.kind) {
    case 'regex':
      return judgePattern(grader, answer);
    case 'schema':
      return judgeSchema(grader, answer);
    case 'criteria':
      return judgeCriteria(grader, record);
    case 'command':
      return judgeCommand(deps, grader, judging);
  }
}

function judgePattern(
  { pattern, flags, matches }: Extract<NamedGrader, { kind: 'regex' }>,
  answer: string,
): Judged {
  try {
    const found: unknown = runInNewContext(
      'new RegExp(pattern, flags).test(answer)',
      { pattern, flags, answer },
      { timeout: patternMs },
    );
    const reason = found === true ? 'It matches.' : 'It does not match.';
    return { result: found === matches ? 'passed' : 'failed', score: null, reason };
  } catch (error) {
    return {
      result: 'not_run',
      score: null,
      reason: `The pattern can't be searched: ${messageOf(error)}`,
    };
  }
}

/** Judges the whole answer as JSON, or the first code block in it that is called JSON. */
function judgeSchema({ schema }: Extract<NamedGrader, { kind: 'schema' }>, answer: string): Judged {
  const [, block] = /^```json[^\n]*\n(.*?)^```/msu.exec(answer) ?? [];
  const { valid, found } = validateJson(schema, block ?? answer);
  return { result: valid ? 'passed' : 'failed', score: null, reason: found };
}

function judgeCriteria(
  { share }: Extract<NamedGrader, { kind: 'criteria' }>,
  { criteria }: RunRecord,
): Judged {
  const met = criteria.filter(({ state }) => state === 'met').length;
  const score = criteria.length === 0 ? 0 : met / criteria.length;
  const reason = `${met} of ${criteria.length} criteria are met.`;
  return { result: criteria.length > 0 && score >= share ? 'passed' : 'failed', score, reason };
}

type CommandGrader = Extract<NamedGrader, { kind: 'command' }>;

/**
 * Judges by a command in the files of the whole run, as `run_command` does. It does not run where there are none, such as when
 * their changes contradict each other. What it changes there is put back.
 */
async function judgeCommand(
  deps: GradeCellDeps,
  { argv, exit_code }: CommandGrader,
  { answer, record, assertCurrent }: Judging,
): Promise<Judged> {
  const place = placeOf(record);
  const prepared = await prepareFiles(deps, place, assertCurrent);
  if ('refused' in prepared) {
    // What else it says is for agents.
    const [why = ''] = prepared.refused.split(' Try: ');
    const reason = `The command did not run. ${why} Try: the evaluation again, which carries this cell out anew.`;
    return { result: 'not_run', score: null, reason };
  }
  const { result, found } = await checkEvidence(deps, {
    check: { kind: 'command', argv, exit_code },
    place,
    signal: Context.current().cancellationSignal,
    stdin: answer,
  });
  await prepared.restore();
  if (place.dir === null) await deps.workspaces.dropOwn(place);
  return { result, score: null, reason: found };
}

/** Makes the files of a command, and puts back what the command of an interrupted attempt has changed in them. */
async function prepareFiles(
  { worktrees, workspaces, commands }: GradeCellDeps,
  place: WorkspacePlace,
  assertCurrent: AssertCurrent,
): Promise<{ readonly restore: () => Promise<void> } | { readonly refused: string }> {
  try {
    const start = await worktrees.startOf(place);
    const restore = async (): Promise<void> => {
      await assertCurrent();
      if (start !== null) await worktrees.restore(place, start);
    };
    await assertCurrent();
    if (start !== null) await commands?.endLeftovers(await workspaces.folderOf(place));
    await restore();
    return { restore };
  } catch (error) {
    if (!(error instanceof WorkspaceRefused)) throw error;
    return { refused: error.message };
  }
}

/** Returns a copy that has the changes of all completed delegations; without a folder of the user's, the run's own. */
function placeOf({ run_id, workspace_dir, waves }: RunRecord): WorkspacePlace {
  if (workspace_dir === undefined) return { run_id, dir: null };
  const worker = { delegation_id: 'evaluation', foundations: listChanges(waves) };
  return { run_id, dir: workspace_dir, worker };
}

export type EvaluationDeps = OpenEvaluationDeps & GradeCellDeps;

/** Creates the activities of an evaluation. Each can be repeated. */
export function createEvaluationActivities(deps: EvaluationDeps): EvaluationActivities {
  return {
    openEvaluation: ({ input }) =>
      withHeartbeat(() => {
        const { workflowExecution, activityRunId = '' } = Context.current().info;
        return openEvaluation(deps, input, workflowExecution?.runId ?? activityRunId);
      }),
    gradeCell: (input) =>
      failAlone(
        () => whileCurrent((assertCurrent) => gradeCell(deps, input, assertCurrent)),
        (why) => failedCell(`Its answer could not be judged: ${why}`),
      ),
    keepCell: (input) =>
      failAlone(
        () => withHeartbeat(() => keepCell(deps, input, Context.current().info.attempt)),
        (why) => deps.onLeftOut?.(`The result of cell ${input.result.cell} is not kept: ${why}`),
      ),
  };
}

/** Turns a failure that no other attempt would mend into a result, so that it is that of its cell and not of the whole evaluation. */
async function failAlone<T>(work: () => Promise<T>, toResult: (why: string) => T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || error.nonRetryable !== true) throw error;
    return toResult(error.message);
  }
}

function failedCell(why: string): GradedCell {
  const reason = cutText(why, reasonCharsMax);
  return { status: 'failed', reason, grades: [], answer_ref: null };
}
