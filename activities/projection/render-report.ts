import type { Ref } from '../../contracts/ref.ts';
import type { RunOrigin, RunRecord, StoredWave } from '../../contracts/run-record.ts';
import type { RunStatus } from '../../contracts/planner-run.ts';
import {
  countOf,
  formatCost,
  describeExpected,
  formatTokens,
  formatUnreported,
  formatUsage,
} from '../../core/text/format.ts';
import { findAnsweringDelegation } from './find-answer.ts';
import {
  findHandedOver,
  listCompleted,
  listDeliverables,
  listSuperseded,
  type Deliverable,
} from '../../core/run/list-deliverables.ts';
import {
  bullets,
  cutLine,
  embedMarkdown,
  joinSections,
  oneLine,
} from '../../core/text/markdown.ts';
import { describeMode } from '../../core/render/labels.ts';
import { treePaths } from './paths.ts';
import { outputPath, renderAdaptations, renderDesignBalance } from './render-design.ts';
import {
  renderChanges,
  renderLeftChanges,
  renderRedactions,
  describeStatus,
  listWebReports,
  renderSources,
} from './render-result.ts';
import { textOf, type RecordTexts, type TextRefs } from './record-texts.ts';
import {
  renderCriteria,
  renderGuarded,
  listDisputed,
  renderMinorityReports,
  renderResultEffects,
  renderResultTeams,
  renderUnverified,
} from './render-report-parts.ts';
import { renderAnswers, renderOpenEnds } from './render-open-ends.ts';
import { hasEnded, renderArchiveFailures } from './render-sessions.ts';
import { resultLimits } from './limits.ts';
import type { ExecutorKind } from '../../contracts/delegation.ts';

/** Lists the texts that `renderReport` needs in addition to those of the answer. */
export function reportNeeds(record: RunRecord): TextRefs {
  const disputed = listDisputed(record);
  return {
    phases: disputed.map((one) => one.dissent_ref),
    teams: disputed.map((one) => one.team_ref),
    web_reports: listWebReports(record),
  };
}

/** Renders `report.md`: everything about a run that has ended except its answer. */
export function renderReport(record: RunRecord, status: RunStatus, texts: RecordTexts): string {
  const told = [
    `# Report: ${oneLine(record.goal_title)}`,
    `**${describeStatus(record, status)}** The answer is in \`${treePaths.result}\`.`,
    record.origin === undefined ? null : describeOrigin(record.origin),
    record.mode === undefined ? null : `**Chosen:** ${describeMode(record.mode)}.`,
    renderGoal(record),
    ...renderCame(record, texts),
    renderChanges(record),
    renderLeftChanges(record),
    renderAdaptations(record),
    renderDesignBalance(record),
    ...renderResultEffects(record),
    renderSources(record, texts),
    renderGuarded(record),
    renderResultTeams(record, texts),
    renderConflicts(record, texts),
    renderArchiveFailures(record),
    renderMinorityReports(record, texts),
    renderAnswers(record),
    ...renderOpenEnds(record, texts),
  ];
  return joinSections([
    ...told,
    ...renderRedactions(joinSections(told)),
    renderUsage(record),
    renderPlaces(record),
  ]);
}

/** Says in one sentence which run a fork was taken over from. */
export function describeOrigin({ run_id, wave, reused }: RunOrigin): string {
  return `Taken over from \`${run_id}\`: everything before wave ${wave}, for which that run paid ${formatUsage(reused)}.`;
}

/** Renders criteria and results. For a phase alone, which has none, names the file with its work. */
function renderCame(record: RunRecord, texts: RecordTexts): (string | null)[] {
  const handed = findHandedOver(record);
  if (handed === null) {
    return [
      renderCriteria(record),
      renderTruth(record, texts),
      renderVersions(record, texts),
      renderUnverified(record),
    ];
  }
  const whole = treePaths.triadPhase(handed.delegation_id, handed.phase);
  return [`Sections, claims and what was said: ${whole}`];
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

/** Renders the results that stand, then those that later work replaced. Each text has a file of its own, and one is the answer. */
function renderVersions(record: RunRecord, texts: RecordTexts): string {
  const standing = listDeliverables(record);
  const completed = listCompleted(record);
  if (completed.length === 0) return '## Results\n\nNo delegation was completed.';
  const isStanding = new Set(standing.map(({ output_ref }) => output_ref));
  const replaced = completed.filter(({ output_ref }) => !isStanding.has(output_ref));
  const newestOf = new Map(
    listSuperseded(record).map(({ older, newest }) => [older.output_ref, newest.delegation_id]),
  );
  const lines = replaced.map((one) => describeReplaced(record, one, newestOf.get(one.output_ref)));
  const answering = findAnsweringDelegation(record, texts);
  return joinSections([
    '## Results',
    ...standing.map((one) => renderStanding(record, one, texts, answering)),
    lines.length === 0 ? null : `### Superseded versions\n\n${bullets(lines, '')}`,
  ]).trimEnd();
}

function renderStanding(
  record: RunRecord,
  one: Deliverable,
  texts: RecordTexts,
  answering: string | null,
): string {
  const whole = outputPath(record, one);
  const body = embedMarkdown(textOf(texts.outputs, one.output_ref).compact_md, {
    depth: 3,
    charsMax: resultLimits.deliverableCompactCharsMax,
    whole: `${whole}, in artifact ${one.output_ref}`,
  });
  const mark = one.delegation_id === answering ? ' This is the answer.' : '';
  return `### ${oneLine(one.title)}\n\n*${one.delegation_id}, by ${describeExecutor(one)}${describeVerified(one)}: ${whole}*${mark}\n\n${body}`;
}

/** Returns `, verified by tester after 2 attempts`; empty without a verification. */
function describeVerified({ verification }: Deliverable): string {
  if (verification?.status !== 'verified') return '';
  return `, verified by ${verification.verified_by} after ${countOf(verification.attempts, 'attempt')}`;
}

function describeReplaced(record: RunRecord, one: Deliverable, newest: string | undefined): string {
  const by = newest === undefined ? '' : `, replaced by \`${newest}\``;
  return `\`${one.delegation_id}\` of wave ${one.wave}${by}: ${oneLine(one.title)}: ${outputPath(record, one)}`;
}

/** `writer`, or `a dialectic triad (anna, ben, carl; 27 model calls, $0.31)`, or `a team (…)` as well. */
function describeExecutor({ agent_id, executor, usage }: Deliverable): string {
  if (executor.kind === 'agent' || executor.work === null) return agent_id;
  const cost = `${countOf(usage.calls, 'model call')}, ${formatCost(usage)}`;
  if (executor.kind === 'team') {
    const team = executor.work;
    const names = team.members.map(({ member_id }) => member_id).join(', ');
    const whose = team.team_id === null ? 'a team' : `the team ${team.team_id}`;
    return `${whose} (${names}; ${cost}), led by ${agent_id}`;
  }
  const triad = executor.work;
  const names = triad.members.map(({ name }) => name).join(', ');
  return `a ${triad.type} triad (${names}; ${cost}), written by ${agent_id}`;
}

/** Lists the contradictions, and the side that stands. */
function renderConflicts(record: RunRecord, texts: RecordTexts): string | null {
  const resolved = record.waves.flatMap(({ decision_ref: ref }) =>
    ref === null ? [] : textOf(texts.decisions, ref).planner_decision.conflicts_resolved,
  );
  const lines = resolved.map(({ conflict, resolution, origin, superseded, keys_apart = [] }) => {
    const outcome =
      keys_apart.length === 0 ? `${origin} stands against ${superseded}` : 'all sides stand';
    return cutLine(`\`${conflict}\`: ${resolution} (${outcome})`, {
      charsMax: resultLimits.lineCharsMax,
      whole: 'waves/<wave>/planner_decision.json',
    });
  });
  return lines.length === 0 ? null : `## Conflicts that were resolved\n\n${bullets(lines, '')}`;
}

function renderUsage({ usage, waves, started_at, updated_at }: RunRecord): string {
  const unreported = formatUnreported(usage);
  const minutes = Math.max(0, updated_at - started_at) / 60;
  return [
    '## Usage and cost',
    '',
    `- ${countOf(usage.calls, 'model call')}, ${formatTokens(usage)}`,
    `- Cost: ${formatCost(usage)}`,
    ...(unreported === ''
      ? []
      : [`- Billed perhaps, without a report, and counted against the budget: ${unreported}`]),
    `- ${countOf(waves.length, 'wave')} in ${minutes.toFixed(1)} minutes, waiting times included`,
    ...waves.flatMap(renderExpected),
  ].join('\n');
}

/** Compares the usage of a wave with the estimate of its plan. */
function renderExpected({ wave, expected, usage }: StoredWave): string[] {
  if (expected === undefined) return [];
  return [`- Wave ${wave} took ${formatTokens(usage)}. ${describeExpected(expected)}`];
}

function renderPlaces(record: RunRecord): string {
  const decided = record.waves.filter((wave) => wave.decision_ref !== null);
  const outcomes = record.waves.flatMap((wave) => wave.outcomes);
  const has = (kind: Exclude<ExecutorKind, 'agent'>): boolean =>
    outcomes.some(({ executor }) => executor.kind === kind && executor.work !== null);
  const isDesigned = (record.design?.plan_refs ?? []).length > 0;
  const places = [
    ...(isDesigned
      ? [
          `\`${treePaths.coordinationPlan}\`: who does what, in which order, and the risks`,
          '`agents/<agent>/agent_instructions.md`: what each agent of the plan has to do',
        ]
      : []),
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
    ...(hasEnded(record) && (record.sessions ?? []).length > 0
      ? [`\`${treePaths.archiveIndex}\`: the notes of each agent, by session`]
      : []),
  ];
  return `## Where everything lies\n\nBeside this file:\n\n${bullets(places, '')}`;
}
