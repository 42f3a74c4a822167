import type { Delegation } from '../../contracts/delegation.ts';
import type { SectionState } from '../../contracts/spec.ts';
import type { TriadMember } from '../../contracts/triad.ts';
import type { PhaseReport, TurnRecord } from '../../contracts/triad-run.ts';
import { formatCost } from '../../contracts/format-cost.ts';
import { findPlannedText } from '../../core/triad/list-sections.ts';
import { formatTokens } from '../../core/usage/format-tokens.ts';
import type { LoadedPhase } from './load-phase.ts';
import { bullets, cutLine, embedMarkdown, joinSections, oneLine } from './markdown.ts';
import { phaseLimits } from './phase-limits.ts';
import { embedText } from './embed-text.ts';
import { renderMinorityReport } from './render-minority-report.ts';
import { renderPhaseClaims } from './render-phase-claims.ts';
import { renderPhaseSummary } from './render-phase-summary.ts';

/** What was planned of a triad: the texts that its spec begins with. */
export type PlannedTriad = Pick<
  Delegation,
  'delegation_id' | 'title' | 'acceptance_criteria' | 'executor'
>;

/** `triads/<delegation>/<phase>.md`: how a phase came out, what it leaves to the next, and who said what. */
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
      `**State:** ${status}, after ${rounds} of at most ${rounds_max} ${rounds_max === 1 ? 'round' : 'rounds'}`,
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

function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
