import type { RecordPhaseInput, RecordPhaseResult } from '../../contracts/activity-types.ts';
import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { Ref } from '../../contracts/ref.ts';
import { findPlanned, loadTexts, textOf } from '../projection/record-texts.ts';
import type { LoadedPhase } from '../projection/record-texts.ts';
import { appendMarkdown } from '../../core/text/markdown.ts';
import { treePaths } from '../projection/paths.ts';
import {
  renderMinorityLine,
  renderMinorityReport,
  renderPhase,
} from '../projection/render-phase.ts';
import type { RecordDeps } from './deps.ts';

/**
 * Keeps how far a phase of a triad has come: in the store, and as a file for people. Repeating it gives the same.
 *
 * The newest attempt at a phase has the file. An attempt begins only when the report of the one before it is kept, so
 * only a worker that was suspended in between could write an older one over it: it looks right before whether the work
 * is still its own. Files that are late for all that are written again by `export`: nobody reads them back.
 *
 * @param assertCurrent throws when somebody else may have the work.
 * @throws {ArtifactCorrupt} when the plan or a text that the report names is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function recordPhase(
  { store, projection }: Pick<RecordDeps, 'store' | 'projection'>,
  { run_id, delegation_id, plan_ref, report }: RecordPhaseInput,
  assertCurrent: () => Promise<void>,
): Promise<RecordPhaseResult> {
  const report_ref = await store.put(JSON.stringify(report));
  // Read back, so that a later export renders the same.
  const texts = await loadTexts(store, [{ plans: [plan_ref], phases: [report_ref] }]);
  const phase = textOf(texts.phases, report_ref);
  const told = tellDissent(phase);
  const output_ref: Ref | null =
    told === null ? report.output_ref : await store.put(JSON.stringify(told));
  const text = renderPhase(phase, findPlanned(delegation_id, textOf(texts.plans, plan_ref)));
  const path = treePaths.triadPhase(delegation_id, report.phase);
  await projection.write(run_id, path, text, assertCurrent);
  return { report_ref, output_ref };
}

/**
 * The output with what stayed disputed: in a line for the planner, and whole at the end.
 *
 * @returns null when there is no output, or nothing stayed disputed.
 */
function tellDissent(phase: LoadedPhase): AgentOutput | null {
  const { output } = phase;
  const minority = renderMinorityReport(phase);
  const line = renderMinorityLine(phase);
  if (output === null || minority === null || line === null) return null;
  return {
    ...output,
    compact_md: appendMarkdown(output.compact_md, line),
    detailed_md: appendMarkdown(output.detailed_md, minority),
  };
}
