import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord, StoredWave } from '../../contracts/run-record.ts';
import type { RunStatus } from '../../contracts/planner-run.ts';
import { formatCost } from '../../contracts/format-cost.ts';
import { describeExpected, formatTokens } from '../../core/usage/format-tokens.ts';
import { findHandedOver, listDeliverables, listSuperseded } from './list-deliverables.ts';
import type { Deliverable } from './list-deliverables.ts';
import { bullets, embedMarkdown, joinSections, oneLine } from './markdown.ts';
import { treePaths } from './paths.ts';
import { textOf } from './record-texts.ts';
import type { RecordTexts, TextRefs } from './record-texts.ts';
import { renderCriteria } from './render-result-criteria.ts';
import { listDisputed, renderMinorityReports } from './render-result-disputes.ts';
import { renderRedactions } from './render-result-redactions.ts';
import { renderPhaseSummary } from './render-phase-summary.ts';
import { renderResultEffects } from './render-result-effects.ts';
import { renderOpenEnds } from './render-result-open-ends.ts';
import { listPartialOutputs, renderResultTeams } from './render-result-teams.ts';
import { resultLimits } from './result-limits.ts';

/** What `renderResult` wants loaded. */
export function resultNeeds(record: RunRecord): TextRefs {
  const disputed = listDisputed(record);
  return {
    decisions: [lastDecision(record)?.ref ?? null, ...disputed.map((one) => one.decision_ref)],
    outputs: [
      ...listDeliverables(record).map((one) => one.output_ref),
      ...listPartialOutputs(record),
    ],
    phases: [...disputed.map((one) => one.dissent_ref), findHandedOver(record)?.report_ref ?? null],
    teams: disputed.map((one) => one.team_ref),
  };
}

/** `result.md`: what a person reads when a run has ended. */
export function renderResult(record: RunRecord, status: RunStatus, texts: RecordTexts): string {
  const told = [
    `# Result: ${oneLine(record.goal_title)}`,
    `**${describeStatus(record, status)}**`,
    renderGoal(record),
    ...renderCame(record, texts),
    ...renderResultEffects(record),
    renderResultTeams(record, texts),
    renderMinorityReports(record, texts),
    ...renderOpenEnds(record, texts),
  ];
  return joinSections([
    ...told,
    ...renderRedactions(joinSections(told)),
    renderUsage(record),
    renderPlaces(record),
  ]);
}

/** What came of it: criteria and deliverables, or what a phase alone hands over. */
function renderCame(record: RunRecord, texts: RecordTexts): (string | null)[] {
  const handed = findHandedOver(record);
  if (handed === null) {
    return [renderCriteria(record), renderTruth(record, texts), renderDeliverables(record, texts)];
  }
  const { summary } = textOf(texts.phases, handed.report_ref);
  const whole = treePaths.triadPhase(handed.delegation_id, handed.phase);
  return [
    summary === null ? null : renderPhaseSummary(summary),
    `Sections, claims and what was said: ${whole}`,
  ];
}

function describeStatus(record: RunRecord, status: RunStatus): string {
  const handed = findHandedOver(record);
  if (handed !== null && status === 'completed') {
    return `Completed: ${handed.phase}, one phase of a triad. It hands over what follows; there is no output.`;
  }
  const open = record.criteria.filter((criterion) => criterion.state === 'open').length;
  const notMet = `${open} of ${record.criteria.length} criteria ${open === 1 ? 'is' : 'are'} not met.`;
  switch (status) {
    case 'completed':
      return 'Completed: every criterion is met with evidence, or was waived by the user.';
    case 'finished_unmet':
      return `Finished, although ${notMet}`;
    case 'stopped':
      return `Stopped by the user before the end${describeReason(record)}: ${notMet}`;
    case 'abandoned':
      return `Abandoned by the user: ${notMet}`;
  }
}

function describeReason({ stop_reason }: RunRecord): string {
  return stop_reason === undefined ? '' : ` ("${oneLine(stop_reason)}")`;
}

function renderGoal(record: RunRecord): string {
  const goal = embedMarkdown(record.goal, {
    depth: 2,
    charsMax: resultLimits.goalCharsMax,
    whole: treePaths.conversationSummary(record.goal_title),
  });
  const rules = [
    ...record.constraints.map((constraint) => `Constraint: ${oneLine(constraint)}`),
    ...record.instructions.map((instruction) => `Asked for later: ${oneLine(instruction)}`),
  ];
  return rules.length === 0 ? `## Goal\n\n${goal}` : `## Goal\n\n${goal}\n\n${bullets(rules, '')}`;
}

function lastDecision(record: RunRecord): { readonly ref: Ref; readonly wave: number } | null {
  const decided = record.waves.findLast((wave) => wave.decision_ref !== null);
  return decided === undefined || decided.decision_ref === null
    ? null
    : { ref: decided.decision_ref, wave: decided.wave };
}

function renderTruth(record: RunRecord, texts: RecordTexts): string | null {
  const last = lastDecision(record);
  if (last === null) return null;
  const truth = embedMarkdown(textOf(texts.decisions, last.ref).wave_compact, {
    depth: 2,
    charsMax: resultLimits.waveCompactCharsMax,
    whole: treePaths.waveCompact(last.wave),
  });
  return `## What is known after wave ${last.wave}\n\n${truth}`;
}

function renderDeliverables(record: RunRecord, texts: RecordTexts): string {
  const deliverables = listDeliverables(record);
  if (deliverables.length === 0) return '## Deliverables\n\nNo delegation was completed.';
  return joinSections([
    '## Deliverables',
    ...deliverables.map((one) => renderDeliverable(one, texts)),
    renderSuperseded(record),
  ]).trimEnd();
}

/** Versions that a later one replaced: where they are, and nothing of what they say. */
function renderSuperseded(record: RunRecord): string | null {
  const older = listSuperseded(record).map(({ older: one, newest }) => {
    const whole = treePaths.taskOutput(one.agent_id, one.delegation_id);
    return `\`${one.delegation_id}\`, replaced by \`${newest.delegation_id}\`: ${whole}`;
  });
  return older.length === 0 ? null : `### Superseded versions\n\n${bullets(older, '')}`;
}

function renderDeliverable(one: Deliverable, texts: RecordTexts): string {
  const whole = treePaths.taskOutput(one.agent_id, one.delegation_id);
  const body = embedMarkdown(textOf(texts.outputs, one.output_ref).detailed_md, {
    depth: 3,
    charsMax: resultLimits.deliverableCharsMax,
    whole: `${whole}, in artifact ${one.output_ref}`,
  });
  return `### ${oneLine(one.title)}\n\n*${one.delegation_id}, by ${describeExecutor(one)}: ${whole}*\n\n${body}`;
}

/** `writer`, or `a dialectic triad (anna, ben, carl; 27 model calls, $0.31)`, or `a team (…)` as well. */
function describeExecutor({ agent_id, triad, team, usage }: Deliverable): string {
  const cost = `${count(usage.calls, 'model call')}, ${formatCost(usage)}`;
  if (team !== undefined) {
    const names = team.members.map(({ member_id }) => member_id).join(', ');
    const whose = team.team_id === null ? 'a team' : `the team ${team.team_id}`;
    return `${whose} (${names}; ${cost}), led by ${agent_id}`;
  }
  if (triad === undefined) return agent_id;
  const names = triad.members.map(({ name }) => name).join(', ');
  return `a ${triad.type} triad (${names}; ${cost}), written by ${agent_id}`;
}

function renderUsage({ usage, waves, started_at, updated_at }: RunRecord): string {
  const minutes = Math.max(0, updated_at - started_at) / 60;
  return [
    '## Usage and cost',
    '',
    `- ${count(usage.calls, 'model call')}, ${formatTokens(usage)}`,
    `- Cost: ${formatCost(usage)}`,
    `- ${count(waves.length, 'wave')} in ${minutes.toFixed(1)} minutes, waiting times included`,
    ...waves.flatMap(renderExpected),
  ].join('\n');
}

/** What a wave took, against what it was expected to take when it was planned. */
function renderExpected({ wave, expected, usage }: StoredWave): string[] {
  if (expected === undefined) return [];
  return [`- Wave ${wave} took ${formatTokens(usage)}. ${describeExpected(expected)}`];
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

function renderPlaces(record: RunRecord): string {
  const decided = record.waves.filter((wave) => wave.decision_ref !== null);
  const outcomes = record.waves.flatMap((wave) => wave.outcomes);
  const has = (executor: 'triad' | 'team'): boolean =>
    outcomes.some((outcome) => outcome[executor] !== undefined);
  const places = [
    `\`${treePaths.conversationSummary(record.goal_title)}\`: goal, decisions, answers`,
    ...decided.map(
      ({ wave }) =>
        `\`${treePaths.waveCompact(wave)}\`: the truth after wave ${wave}; reasons and decision beside it`,
    ),
    '`agents/<agent>/task_output/<delegation>.md`: each completed work, whole',
    ...(has('triad')
      ? ['`triads/<delegation>/<phase>.md`: how each triad came to its output']
      : []),
    ...(has('team') ? ['`teams/<delegation>.md`: who did what for each team'] : []),
    `\`${treePaths.pool}\`: every fact with its source`,
    `\`${treePaths.questions}\`: every question, answer and refused answer`,
    ...(record.effects === undefined
      ? []
      : [`\`${treePaths.effects}\`: every change outside, with its proof`]),
    `\`${treePaths.sharedStatus}\`: where each delegation stands`,
  ];
  return `## Where everything lies\n\nBeside this file:\n\n${bullets(places, '')}`;
}
