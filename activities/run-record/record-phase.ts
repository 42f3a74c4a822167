import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { Ref } from '../../contracts/ref.ts';
import { findPlanned, loadTexts, textOf, type LoadedPhase } from '../projection/record-texts.ts';
import { appendMarkdown, bullets, cutLine, oneLine } from '../../core/text/markdown.ts';
import { teamLimits } from '../projection/limits.ts';
import { treePaths } from '../projection/paths.ts';
import {
  renderMinorityLine,
  renderMinorityReport,
  renderPhase,
  renderPhaseSummary,
} from '../projection/render-phase.ts';
import type { RecordDeps } from './deps.ts';
import type {
  PhaseReport,
  RecordPhaseInput,
  RecordPhaseResult,
} from '../../contracts/triad-run.ts';

/**
 * Stores the report of a triad's phase, and writes it as a file for people. Repeating it gives the same result.
 *
 * The file belongs to the newest attempt at a phase. An attempt begins only when the report of the one before it is
 * stored, so only a suspended worker could overwrite it with an older one: it checks right before writing that the work
 * is still its own. Files that are nevertheless old are rewritten by `export`; they are never read back.
 *
 * @param assertCurrent Throws when another attempt may have taken over the work.
 * @throws {ArtifactCorrupt} when the plan or a text that the report names is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function recordPhase(
  { store, projection }: Pick<RecordDeps, 'store' | 'projection'>,
  { run_id, delegation_id, plan_ref, report }: RecordPhaseInput,
  assertCurrent: () => Promise<void>,
): Promise<RecordPhaseResult> {
  const report_ref = await store.put(JSON.stringify(report));
  // Read back, so that a later export renders the same text.
  const texts = await loadTexts(store, [{ plans: [plan_ref], phases: [report_ref] }]);
  const phase = textOf(texts.phases, report_ref);
  const told = tellDissent(phase);
  const output_ref: Ref | null =
    told === null ? report.output_ref : await store.put(JSON.stringify(told));
  const text = renderPhase(phase, findPlanned(delegation_id, textOf(texts.plans, plan_ref)));
  const path = treePaths.triadPhase(delegation_id, report.phase);
  await projection.write(run_id, path, text, { mayStill: assertCurrent });
  const unfinished = composeUnfinished(phase);
  return {
    report_ref,
    output_ref,
    ...(unfinished !== null && { unfinished_ref: await store.put(JSON.stringify(unfinished)) }),
  };
}

/**
 * Composes the output of a triad that ends in a phase, or after it before the next: the sections so far, and the summary of a
 * phase that ended well. The engine writes it from the records, so it contains nothing that no member put there.
 *
 * @returns null without any, and where the triad's own output stands for it.
 */
function composeUnfinished({ report, summary, texts }: LoadedPhase): AgentOutput | null {
  const isDone = report.status === 'done';
  if (isDone && report.phase === 'execute') return null;
  const sections = report.spec.sections.flatMap(({ section_id, owner, text_ref }) => {
    const text = text_ref === null ? '' : (texts.get(text_ref) ?? '').trim();
    const name = `${section_id} (${owner === null ? 'not agreed' : 'agreed'})`;
    return text === '' ? [] : [{ name, text }];
  });
  const summed = isDone && summary !== null ? [renderPhaseSummary(summary)] : [];
  if (summed.length + sections.length === 0) return null;
  const came = [
    ...(summed.length === 0 ? [] : [`the summary of ${report.phase}`]),
    ...sections.map(({ name, text }) => `${name}: ${shorten(text)}`),
  ];
  const end = `**Not whole.** ${describeEnd(report)}`;
  const parts = sections.map(({ name, text }) => `## ${name}\n\n${text}`);
  return {
    compact_md: `${end}\n\nWhat came:\n\n${bullets(came, '')}`,
    detailed_md: [end, ...summed, ...parts].join('\n\n'),
    status: 'failed',
    blocking_questions: [],
    optional_questions: [],
    missing_info_requests: [],
    assumptions_made: [],
    facts: [],
    effects_claimed: [],
    // Its outcome says what is unmet, and why.
    coverage: { criteria_met: [], criteria_unmet: [] },
  };
}

function describeEnd({ phase, status, failure }: PhaseReport): string {
  if (status === 'done') return `The triad gave no output: it got no further than ${phase}.`;
  const why = failure === null ? '' : `: ${shorten(failure.message)}`;
  return `The triad gave no output: its phase ${phase} ${status === 'failed' ? 'failed' : 'was stopped'}${why}`;
}

function shorten(text: string): string {
  return cutLine(oneLine(text), { charsMax: teamLimits.shortCharsMax, whole: 'the whole output' });
}

/**
 * Adds the disputed points to the output: one line for the planner, and the whole at the end.
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
