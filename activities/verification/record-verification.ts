import { EvidenceReport, refusedOf, Verdict } from '../../contracts/verification.ts';
import type {
  RecordVerificationInput,
  RecordVerificationResult,
  VerificationResults,
} from '../../contracts/verification.ts';
import { findTask } from '../../core/design/next-wave.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { readCoordinationPlan } from '../artifacts/coordination-plan.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';
import { treePaths } from '../projection/paths.ts';

export interface RecordVerificationDeps {
  readonly store: ArtifactStore;
  readonly projection: Pick<ProjectionWriter, 'write' | 'remove'>;
}

const entryCharsMax = 2_000;

/**
 * Stores the results of a verification. A failure is shown in the author's folder until an output passes.
 *
 * @param assertCurrent Throws when another attempt may have taken over the work.
 */
export async function recordVerification(
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
  const path = treePaths.verificationResults(await nameAuthor(store, input));
  if (result === 'fail') await projection.write(run_id, path, text, assertCurrent);
  else {
    await assertCurrent();
    await projection.remove(run_id, path);
  }
  return { results_ref, result };
}

/** Returns the author's name in the approved plan, or its agent_id. */
async function nameAuthor(
  store: ArtifactStore,
  { record_ref, delegation_id, agent_id }: RecordVerificationInput,
): Promise<string> {
  const { design } = await readRecord(store, record_ref);
  const plan_ref = design?.plan_refs.at(-1);
  if (plan_ref === undefined) return agent_id;
  const { tasks } = await readCoordinationPlan(store, plan_ref);
  return findTask(tasks, delegation_id)?.agent ?? agent_id;
}
