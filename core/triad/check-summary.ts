import type { OutputFault } from '../../contracts/output-fault.ts';
import type { PhaseSummaryOutline } from '../../contracts/phase-summary.ts';
import type { SpecState } from '../../contracts/spec.ts';
import type { TriadPhase } from '../../contracts/triad.ts';
import { listNames } from '../text/list-names.ts';

/** Checks the summary of a phase beyond its shape. @returns every fault at once. */
export function checkSummary(
  { decided, open }: PhaseSummaryOutline,
  spec: SpecState,
  phase: TriadPhase,
): OutputFault[] {
  const ids = spec.sections.map(({ section_id }) => section_id);
  const unknown = [...new Set([...decided, ...open])].filter((id) => !ids.includes(id));
  // After a negotiation each section is settled or not, which is checked below.
  const missing = (phase === 'negotiate' ? [] : ids).filter(
    (id) => !decided.includes(id) && !open.includes(id),
  );
  const isSettled = (id: string): boolean =>
    spec.sections.some(({ section_id, owner }) => section_id === id && owner !== null);
  const judged = phase === 'negotiate' ? ids : [];
  const undecided = judged.filter((id) => isSettled(id) && !decided.includes(id));
  const disputed = judged.filter((id) => !isSettled(id) && !open.includes(id));
  return [
    ...fault(unknown, 'decisions', (names) => ({
      reason: `the spec has no section ${names}`,
      hint: `Try: one of ${listNames(ids)}, or null for the whole`,
    })),
    ...fault(missing, 'decisions', (names) => ({
      reason: `these sections are named nowhere: ${names}`,
      hint: 'Try: each in decisions, or in open_questions',
    })),
    ...fault(undecided, 'decisions', (names) => ({
      reason: `these sections are settled, and no decision names them: ${names}`,
      hint: 'Try: what was agreed on each, in decisions',
    })),
    ...fault(disputed, 'open_questions', (names) => ({
      reason: `these sections are not settled, and no open question names them: ${names}`,
      hint: 'Try: what is disputed on each, in open_questions',
    })),
  ];
}

function fault(
  ids: readonly string[],
  path: string,
  describe: (names: string) => Pick<OutputFault, 'reason' | 'hint'>,
): OutputFault[] {
  return ids.length === 0 ? [] : [{ path, ...describe(listNames(ids)) }];
}
