import type { Dissent } from '../../contracts/spec.ts';
import { findDissent } from '../../core/spec/read-spec.ts';
import { embedDispute, embedProposal, embedReason } from './embed-text.ts';
import type { LoadedPhase } from './load-phase.ts';
import { bullets } from './markdown.ts';

/**
 * What stayed disputed in a triad, as a part of its output and of the phase's file. The engine writes it from the
 * records, so it says nothing that no member put there.
 *
 * @returns null when nothing did.
 */
export function renderMinorityReport(phase: LoadedPhase): string | null {
  const dissent = findDissent(phase.report.spec);
  if (dissent.length === 0) return null;
  const head =
    'What the members of the triad could not settle, as the engine found it in the records of their negotiation.';
  return ['## Minority report', head, ...dissent.map((one) => renderDissent(one, phase))].join(
    '\n\n',
  );
}

/** One line for whoever reads the output in short. Null when nothing stayed disputed. */
export function renderMinorityLine({ report }: LoadedPhase): string | null {
  const sections = new Set(findDissent(report.spec).map(({ section_id }) => section_id));
  if (sections.size === 0) return null;
  const named = [...sections].map((id) => `\`${id}\``).join(', ');
  return `Disputed to the end: ${named}. The minority report at the end of the whole output has what each member holds.`;
}

function renderDissent(one: Dissent, phase: LoadedPhase): string {
  const { section_id, claim_id, member, about, revision } = one;
  const what = about === 'ownership' ? 'claimed' : 'said to contradict another section';
  return [
    `### \`${section_id}\`, ${what}: ${claim_id} of ${member}, revision ${revision}`,
    embedProposal(one, phase),
    ...embedDispute(one, phase),
    bullets(
      one.positions.map((position) => renderPosition(position, phase)),
      '- Nobody took a position.',
    ),
  ].join('\n\n');
}

function renderPosition(
  { member, decision, reason_ref }: Dissent['positions'][number],
  phase: LoadedPhase,
): string {
  // Who conceded to the newest revision is not among them.
  const said =
    decision === 'CONCEDE' ? 'CONCEDE to an earlier revision' : (decision ?? 'no answer');
  const stand = `**${member}: ${said}.**`;
  return reason_ref === null ? stand : `${stand}\n${embedReason(reason_ref, phase)}`;
}
