import type { Delegation } from '../../contracts/delegation.ts';
import type {
  SectionState,
  Claim,
  Dissent,
  ClaimResponse,
  PhaseSummary,
} from '../../contracts/spec.ts';
import { countOf, capitalise, formatCost, formatTokens } from '../../core/text/format.ts';
import { type LoadedPhase, textOf } from './record-texts.ts';
import {
  bullets,
  cutLine,
  embedMarkdown,
  joinSections,
  oneLine,
  embedCode,
} from '../../core/text/markdown.ts';
import { phaseLimits } from './limits.ts';
import type { Ref } from '../../contracts/ref.ts';
import { findDissent } from '../../core/spec/read-spec.ts';
import type { TriadMember } from '../../contracts/triad.ts';
import type { PhaseReport, TurnRecord } from '../../contracts/triad-run.ts';
import { findPlannedText } from '../../core/triad/roles.ts';

/** The plan of a triad: the initial texts of its spec. */
type PlannedTriad = Pick<
  Delegation,
  'delegation_id' | 'title' | 'acceptance_criteria' | 'executor'
>;

/** Renders `triads/<delegation>/<phase>.md`: how a phase ended, what it leaves to the next, and who said what. */
export function renderPhase(phase: LoadedPhase, planned: PlannedTriad): string {
  const { report } = phase;
  return joinSections([
    `# ${capitalise(report.phase)}: ${oneLine(planned.title)}`,
    renderHead(phase, planned),
    renderFailure(report),
    renderOutput(phase),
    phase.output === null ? null : renderMinorityReport(phase),
    phase.summary === null ? null : renderPhaseSummary(phase.summary),
    renderSections(phase, planned),
    renderPhaseClaims(phase),
    renderTurns(phase),
  ]);
}

function renderHead({ report, report_ref }: LoadedPhase, { delegation_id }: PlannedTriad): string {
  const { type, reason, members, status, attempt, rounds, rounds_max, usage } = report;
  const replaced = attempt === 1 ? '' : `. This file replaces that of attempt ${attempt - 1}`;
  return bullets(
    [
      `**State:** ${status}, after ${rounds} of at most ${countOf(rounds_max, 'round')}`,
      `**Attempt:** ${attempt}${replaced}`,
      `**Delegation:** ${delegation_id}, by a ${type} triad`,
      `**Why a triad:** ${shorten(reason)}`,
      `**Members:**\n${members.map(describeMember).join('\n')}`,
      `**Used:** ${formatCost(usage)}, ${formatTokens(usage)}`,
      `**Report:** artifact ${report_ref}`,
    ],
    '',
  );
}

function describeMember({ name, role, agent_id, lens, model }: TriadMember): string {
  const looks = lens === undefined ? '' : `, looks at it as: ${shorten(lens)}`;
  return `- ${name}: ${role}, agent ${agent_id}${model === undefined ? '' : `, model ${shorten(model)}`}${looks}`;
}

function renderFailure({ failure }: PhaseReport): string | null {
  if (failure === null) return null;
  const { agent, phase, message } = failure;
  return `## Failure\n\n${agent} failed in ${phase}: ${shorten(message)}`;
}

function renderOutput({ report, output }: LoadedPhase): string | null {
  if (output === null) return null;
  const compact = embedMarkdown(output.compact_md, {
    depth: 2,
    charsMax: phaseLimits.compactCharsMax,
    whole: `artifact ${report.output_ref ?? ''}`,
  });
  return `## Output\n\n*${output.status}*\n\n${compact}`;
}

function renderSections(phase: LoadedPhase, planned: PlannedTriad): string {
  const { sections } = phase.report.spec;
  return ['## Sections', ...sections.map((one) => renderSection(one, phase, planned))].join('\n\n');
}

function renderSection(section: SectionState, phase: LoadedPhase, planned: PlannedTriad): string {
  const { section_id, owner, status, version, text_ref, language } = section;
  const whose = owner === null ? 'nobody owns it' : `owned by ${owner}`;
  const written = language === null ? '' : `, written in ${oneLine(language)}`;
  const text =
    text_ref === null
      ? embedMarkdown(findPlannedText(planned, section_id), {
          depth: 3,
          charsMax: phaseLimits.sectionCharsMax,
          whole: 'the plan',
        })
      : embedText(text_ref, phase, { language, charsMax: phaseLimits.sectionCharsMax });
  return `### \`${section_id}\`\n\n*${status}, ${whose}, version ${version}${written}*\n\n${text}`;
}

function renderTurns(phase: LoadedPhase): string {
  const { turns } = phase.report;
  if (turns.length === 0) return '## What was said\n\nNo turn came to its end.';
  return ['## What was said', ...turns.map((turn) => renderTurn(turn, phase))].join('\n\n');
}

function renderTurn({ turn, member, round, said_ref }: TurnRecord, phase: LoadedPhase): string {
  const said =
    said_ref === null
      ? 'Nothing besides what stands in the records.'
      : embedText(said_ref, phase, { language: null, charsMax: phaseLimits.saidCharsMax });
  return `### Turn ${turn}: ${member}, round ${round}\n\n${said}`;
}

function shorten(text: string): string {
  return cutLine(text, { charsMax: phaseLimits.lineCharsMax, whole: 'the report' });
}

interface TextOptions {
  /** Language of code; null for Markdown. */
  readonly language: string | null;
  readonly charsMax: number;
  /** Number of levels that headings go down. Default 3: below those of a section or a turn. */
  readonly depth?: number;
}

/** Embeds a text that a phase's report names as a part of its file. */
function embedText(
  ref: Ref,
  { texts }: LoadedPhase,
  { language, charsMax, depth = 3 }: TextOptions,
): string {
  const text = textOf(texts, ref);
  const options = { charsMax, whole: `artifact ${ref}` };
  return language === null
    ? embedMarkdown(text, { ...options, depth })
    : embedCode(text, { ...options, language });
}

/** Embeds the proposal of a claim. For a claim about an output it is the section's own text, which may be code. */
function embedProposal(
  { about, section_id, proposal_ref }: Pick<Claim, 'about' | 'section_id' | 'proposal_ref'>,
  phase: LoadedPhase,
): string {
  const section = phase.report.spec.sections.find((one) => one.section_id === section_id);
  const isSection = about === 'output' && section?.text_ref === proposal_ref;
  const language = isSection ? section.language : null;
  return embedText(proposal_ref, phase, { language, charsMax: phaseLimits.proposalCharsMax });
}

/** Embeds the reason of a response to a claim. */
function embedReason(reasonRef: Ref, phase: LoadedPhase): string {
  return embedText(reasonRef, phase, {
    language: null,
    charsMax: phaseLimits.reasonCharsMax,
    depth: 5,
  });
}

/** Embeds the reason why an output was disputed. @returns nothing for other claims. */
function embedDispute({ dispute_ref }: Pick<Claim, 'dispute_ref'>, phase: LoadedPhase): string[] {
  if (dispute_ref === undefined) return [];
  return [`**It was disputed because:**\n${embedReason(dispute_ref, phase)}`];
}

export const minorityHeading = '## Minority report';

/**
 * Renders what stayed disputed in a triad, as a part of its output and of the phase's file. The engine writes it from the
 * records, so it says nothing that no member put there.
 *
 * @returns null when nothing did.
 */
export function renderMinorityReport(phase: LoadedPhase): string | null {
  const dissent = findDissent(phase.report.spec);
  if (dissent.length === 0) return null;
  const head =
    'What the members of the triad could not settle, as the engine found it in the records of their negotiation.';
  return [minorityHeading, head, ...dissent.map((one) => renderDissent(one, phase))].join('\n\n');
}

/** Renders one line for readers of the compact output. Null when nothing stayed disputed. */
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
  // A member that conceded to the newest revision is not among them.
  const said =
    decision === 'CONCEDE' ? 'CONCEDE to an earlier revision' : (decision ?? 'no answer');
  const stand = `**${member}: ${said}.**`;
  return reason_ref === null ? stand : `${stand}\n${embedReason(reason_ref, phase)}`;
}

/** Renders the claims on the spec, each with every answer to it. Null when there is none. */
function renderPhaseClaims(phase: LoadedPhase): string | null {
  const { claims } = phase.report.spec;
  if (claims.length === 0) return null;
  return ['## Claims', ...claims.map((claim) => renderClaim(claim, phase))].join('\n\n');
}

function renderClaim(claim: Claim, phase: LoadedPhase): string {
  const { claim_id, section_id, member, state, responses } = claim;
  return [
    `### ${claim_id} of ${member} on \`${section_id}\`: ${state}`,
    `*${describeOrigin(claim)}*`,
    embedProposal(claim, phase),
    ...embedDispute(claim, phase),
    bullets(
      responses.map((response) => renderResponse(response, phase)),
      '- Nobody has answered.',
    ),
  ].join('\n\n');
}

function describeOrigin({ about, revision, revised_by, registered_by, member }: Claim): string {
  const registered = registered_by === member ? '' : `, registered by ${registered_by}`;
  const revised = revision === 1 ? '' : `, revision ${revision} by ${revised_by}`;
  return `about the section's ${about}${registered}${revised}`;
}

function renderResponse(response: ClaimResponse, phase: LoadedPhase): string {
  const { round, member, decision, revision, reason_ref } = response;
  const said = embedReason(reason_ref, phase);
  return `Round ${round}, **${member}: ${decision}** (of revision ${revision})\n${said}`;
}

/** Renders the summary that a phase hands to the next one, or to the person who started it alone. */
export function renderPhaseSummary({ decisions, open_questions, artifacts }: PhaseSummary): string {
  return [
    '## Summary',
    '### Decisions',
    listEntries(decisions.map((one) => [one.section_id, one.decision])),
    '### Open questions',
    listEntries(open_questions.map((one) => [one.section_id, one.question])),
    '### Artifacts',
    listEntries(artifacts.map((one) => [one.section_id, one.artifact])),
  ].join('\n\n');
}

function listEntries(entries: readonly (readonly [sectionId: string | null, text: string])[]) {
  const lines = entries.map(([sectionId, text]) =>
    cutLine(sectionId === null ? text : `\`${sectionId}\`: ${text}`, {
      charsMax: phaseLimits.lineCharsMax,
      whole: 'the report',
    }),
  );
  return bullets(lines, '- None.');
}
