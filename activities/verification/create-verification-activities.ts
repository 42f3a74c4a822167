import { Context } from '@temporalio/activity';
import {
  EvidenceReport,
  type GatherEvidenceInput,
  type GatherEvidenceResult,
  refusedOf,
  Verdict,
  type RecordVerificationInput,
  type RecordVerificationResult,
  VerificationResults,
  type DescribeFailuresInput,
  type OrderJudgementInput,
  type VerificationActivities,
} from '../../contracts/verification.ts';
import type { Activities } from '../../contracts/activity-types.ts';
import { taskWordsOf, withoutRules } from '../../core/design/task-rules.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { CompletionSession } from '../../contracts/note.ts';
import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import { engineLimits } from '../../core/limits.ts';
import { orderJudgement as composeJudgement } from '../../core/verification/order-judgement.ts';
import { bullets, embedMarkdown, joinSections, oneLine } from '../../core/text/markdown.ts';
import { commandText } from '../../core/text/format.ts';
import { readDelegation, applyInstructions } from '../prompts/read-task.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine } from '../text/blocks.ts';
import { placeOf } from '../tools/tool.ts';
import { storePlan } from '../run-record/compose-plan.ts';
import { readCommands } from '../stages/verification.ts';
import { readOutput, readShape } from '../artifacts/read-artifact.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';
import { isOver } from '../projection/list-files.ts';
import { treePaths } from '../projection/paths.ts';
import { agentNameOf } from '../projection/render-design.ts';
import { withHeartbeat, whileCurrent } from '../attempt/heartbeat.ts';
import { checkEvidence, type EvidenceDeps } from './check-evidence.ts';

/** Keeps the files of a delegation, so that each attempt to check them begins with the same. */
async function keepWork(
  { store, worktrees }: Pick<EvidenceDeps, 'store' | 'worktrees'>,
  input: Omit<GatherEvidenceInput, 'kept'>,
): Promise<Pick<GatherEvidenceInput, 'kept'>> {
  const signal = Context.current().cancellationSignal;
  return { kept: await worktrees.keep(await placeOf({ ...input, store, signal })) };
}

/**
 * Makes the checks of a delegation in its copy of the workspace, and reads the changes of its files. Files that a command
 * changes are put back, those of an interrupted attempt first.
 *
 * @param assertCurrent Throws when another attempt may have taken over the work: then the files may be those of later work.
 */
async function gatherEvidence(
  deps: EvidenceDeps,
  input: GatherEvidenceInput,
  assertCurrent: () => Promise<void>,
): Promise<GatherEvidenceResult> {
  const { store, worktrees } = deps;
  const { kept } = input;
  const restore = async (): Promise<void> => {
    await assertCurrent();
    if (kept !== null) await worktrees.restore(place, kept);
  };
  const signal = Context.current().cancellationSignal;
  const place = await placeOf({ ...input, store, signal });
  const { verification } = await readDelegation(store, input);
  const checks: EvidenceReport['checks'] = [];
  await assertCurrent();
  // What an interrupted attempt has changed is undone after its last command is dead.
  if (kept !== null) await deps.commands?.endLeftovers(await deps.workspaces.folderOf(place));
  await restore();
  for (const { criterion_id, check } of verification?.checks ?? []) {
    // Commands work in the same folder.
    /* oxlint-disable no-await-in-loop */
    const found = await checkEvidence(deps, { check, place, signal });
    checks.push({ criterion_id, ...found });
    if (check.kind === 'command') {
      await restore();
      if (place.dir === null) await deps.workspaces.dropOwn(place);
    }
    /* oxlint-enable no-await-in-loop */
  }
  const patch = (await worktrees.diff(place)) ?? '';
  const report: EvidenceReport = { checks, diff: cutAtLine(patch, blockBytesMax.evidence_diff) };
  return {
    evidence_ref: await store.put(JSON.stringify(report)),
    failed: checks.filter(({ result }) => result === 'failed').length,
  };
}

/** Orders the judgement of the triad that verifies, in a plan that holds the judged delegation too. */
async function orderJudgement(
  store: ArtifactStore,
  input: OrderJudgementInput,
): Promise<WavePlanOutline> {
  const planned = await applyInstructions(store, await readDelegation(store, input), input);
  const author =
    input.added === undefined
      ? planned
      : { ...planned, verification: { checks: [], ...input.added } };
  const [evidence, commands, session, guidance] = await Promise.all([
    readShape(store, input.evidence_ref, EvidenceReport, 'evidence'),
    readCommands(store, input),
    input.notes_ref === null ? null : readShape(store, input.notes_ref, CompletionSession, 'notes'),
    Promise.all(input.guidance_refs.map((ref) => store.getText(ref))),
  ]);
  const judgement = composeJudgement(author, input.judgement_id, {
    evidence,
    commands,
    notes: session?.notes ?? [],
    guidance,
  });
  return storePlan(store, {
    summary: `Judgement of the output of ${input.delegation_id}.`,
    delegations: [author, judgement],
    needs_user_input: false,
    user_questions: [],
  });
}

interface RecordVerificationDeps {
  readonly store: ArtifactStore;
  readonly projection: Pick<ProjectionWriter, 'write' | 'remove'>;
}

const entryCharsMax = 2_000;

/**
 * Stores the results of a verification. A failure is shown in the author's folder until an output passes. Once its wave is
 * over, the record lists it (`listFailures`).
 *
 * @param assertCurrent Throws when another attempt may have taken over the work.
 */
async function recordVerification(
  { store, projection }: RecordVerificationDeps,
  input: RecordVerificationInput,
  assertCurrent: () => Promise<void>,
): Promise<RecordVerificationResult> {
  const { run_id, delegation_id, evidence_ref, verdict_ref, failure, now } = input;
  const { checks } = await readShape(store, evidence_ref, EvidenceReport, 'evidence');
  const failed = checks
    .filter(({ result }) => result === 'failed')
    .map(({ criterion_id, check, found }) => `${criterion_id}: ${check}. ${found}`);
  const verdict =
    verdict_ref === null ? null : await readShape(store, verdict_ref, Verdict, 'a verdict');
  const missing = [
    ...failed,
    ...(verdict?.missing_evidence ?? []),
    ...refusedOf(verdict?.reviewed_notes ?? []).map(
      ({ note_id, comment }) => `${note_id} is not accepted: ${comment || 'no reason was given'}`,
    ),
    ...(failure === '' ? [] : [`The verifier gave no valid verdict: ${failure}`]),
  ];
  const result = verdict?.verdict === 'pass' && failed.length === 0 ? 'pass' : 'fail';
  const results: VerificationResults = {
    task_id: delegation_id,
    timestamp: now,
    result,
    missing_evidence: missing.slice(0, 50).map((text) => cutText(text, entryCharsMax)),
  };
  const text = `${JSON.stringify(results, null, 2)}\n`;
  const results_ref = await store.put(text);
  const record = await readRecord(store, input.record_ref);
  const path = treePaths.verificationResults(agentNameOf(record, input));
  if (result === 'fail') await projection.write(run_id, path, text, { mayStill: assertCurrent });
  else {
    await assertCurrent();
    // Tasks of one agent share the file.
    await projection.remove(run_id, path, (shown) => isOver(shown, delegation_id, record));
  }
  return { results_ref, result };
}

/** Shares of a question's 2,000 characters. */
const instructionCharsMax = 500;
const feedbackCharsMax = 1_000;

/**
 * Words what the user decides on: the task, its instructions, and the feedback of the verifications since the user was asked
 * last, newest first. All of it, with the feedback before that, is an artifact that the text names.
 */
async function describeFailures(
  store: ArtifactStore,
  input: DescribeFailuresInput,
): Promise<{ readonly text: string }> {
  const { delegation_id, verified_by, results_refs, output_ref } = input;
  const planned = await readDelegation(store, input);
  const ordered = await applyInstructions(store, planned, input);
  const { title } = ordered;
  const task_description = withoutRules(ordered.task_description);
  const output = output_ref === undefined ? null : await readOutput(store, output_ref);
  const results = await Promise.all(
    results_refs.map((ref) =>
      readShape(store, ref, VerificationResults, 'results of a verification'),
    ),
  );
  const shown = results.slice(-engineLimits.verificationsMax);
  const before = results.length - shown.length;
  const share = Math.floor(feedbackCharsMax / Math.max(1, shown.length));
  const feedback = shown
    .map(({ missing_evidence }, at) =>
      cutText(`${before + at + 1}. ${missing_evidence.map(oneLine).join(' · ')}`, share),
    )
    .toReversed();
  const whole_ref = await store.put(
    renderWhole(delegation_id, { title, task_description }, { results, output }),
  );
  const named = `${delegation_id} (${cutText(title, 80)})`;
  const times = shown.length > 1 ? `, ${shown.length} times` : '';
  const lines = [
    input.gave_up === true
      ? `${named} does again what no longer holds, and has failed: see below. What now?`
      : `The output of ${named} failed its verification by ${verified_by}${times}. What now?`,
    `Instructions: ${cutText(oneLine(taskWordsOf(task_description)), instructionCharsMax)}`,
    'Feedback, newest first:',
    ...feedback,
    `All of it: ${commandText('artifact', whole_ref)}`,
  ];
  return { text: lines.join('\n') };
}

/** Results of all verifications, and the newest output; null where it is unknown. */
interface Failed {
  readonly results: readonly VerificationResults[];
  readonly output: AgentOutput | null;
}

const outputCharsMax = 50_000;

function renderWhole(
  delegation_id: string,
  { title, task_description }: Pick<Delegation, 'title' | 'task_description'>,
  { results, output }: Failed,
): string {
  return joinSections([
    `# ${oneLine(title)}`,
    `Task: \`${delegation_id}\``,
    `## Instructions\n${task_description}`,
    ...(output === null
      ? []
      : [
          `## The output that failed last\n${embedMarkdown(output.detailed_md, { charsMax: outputCharsMax, whole: 'the output', depth: 2 })}`,
        ]),
    '## Feedback of every verification that failed',
    ...results.map(
      ({ timestamp, missing_evidence }, at) =>
        `### ${at + 1}. ${new Date(timestamp * 1_000).toISOString()}\n${bullets(missing_evidence.map(oneLine), '')}`,
    ),
  ]);
}

/** Creates the activities of a verification. Each can be repeated. */
export function createVerificationActivities(
  deps: EvidenceDeps & RecordVerificationDeps,
): VerificationActivities & Pick<Activities, 'orderJudgement'> {
  return {
    keepWork: (input) => withHeartbeat(() => keepWork(deps, input)),
    gatherEvidence: (input) =>
      whileCurrent((assertCurrent) => gatherEvidence(deps, input, assertCurrent)),
    orderJudgement: (input) => withHeartbeat(() => orderJudgement(deps.store, input)),
    recordVerification: (input) =>
      whileCurrent((assertCurrent) => recordVerification(deps, input, assertCurrent)),
    describeFailures: (input) => withHeartbeat(() => describeFailures(deps.store, input)),
  };
}
