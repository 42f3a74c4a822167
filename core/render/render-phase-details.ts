/**
 * The page of a triad's phase in Temporal's Web UI.
 *
 * Invariants:
 *   PD1. It says which phase and round it is and who is at work; what it waits for comes first.
 *   PD2. Every section is listed with owner and state, and every claim that there is room for.
 */
import type { TriadPhaseView } from '../../contracts/views.ts';
import { engineLimits } from '../limits.ts';
import { bullet, codeSpan, joinBlocks, plainText } from '../text/markdown.ts';

/** Claims in one block: blocks are shown whole or not at all. */
const linesPerBlock = 10;

/** Markdown for Temporal's current details. @param waitingFor The question it waits for; empty for none. */
export function renderPhaseDetails(view: TriadPhaseView, waitingFor: string): string {
  const waits = plainText(waitingFor, 1_000);
  return joinBlocks(
    [waits === '' ? '' : `## Waiting\n\n${waits}`, ...phaseBlocks(view)],
    engineLimits.detailsBytesMax,
  );
}

/** A phase as blocks of Markdown, for its own page and its delegation's. */
export function phaseBlocks(view: TriadPhaseView): string[] {
  const { type, phase, state, round, rounds_max, at_work } = view;
  const names = at_work.map((name) => plainText(name, 60)).join(', ');
  const claims = view.claims.map(renderClaim);
  const blocks: string[] = [];
  for (let i = 0; i < claims.length; i += linesPerBlock) {
    blocks.push(claims.slice(i, i + linesPerBlock).join('\n'));
  }
  const isAtWork = state === 'running';
  return [
    round === 0 ? `## ${phase}` : `## ${phase} · round ${round} of ${rounds_max}`,
    [
      bullet(`**State:** ${state}`),
      bullet(`**Triad:** ${type}`),
      ...(isAtWork && round > 0 ? [bullet(`**At work:** ${names === '' ? 'nobody' : names}`)] : []),
      ...(isAtWork && round === 0 ? [bullet('Round and members: on the page of the phase')] : []),
    ].join('\n'),
    '### Sections',
    view.sections.map(renderSection).join('\n'),
    ...(blocks.length === 0 ? [] : ['### Claims', ...blocks]),
  ];
}

function renderSection(section: TriadPhaseView['sections'][number]): string {
  const { section_id, owner, status, version } = section;
  const whose = owner === null ? 'nobody owns it' : `owned by ${plainText(owner, 60)}`;
  return bullet(`${codeSpan(section_id, 60)} · ${status} · ${whose} · version ${version}`);
}

function renderClaim(claim: TriadPhaseView['claims'][number]): string {
  const { claim_id, section_id, member, revision, state } = claim;
  return bullet(
    `${codeSpan(claim_id, 30)} on ${codeSpan(section_id, 60)} · by ${plainText(member, 60)} · revision ${revision} · ${state}`,
  );
}
