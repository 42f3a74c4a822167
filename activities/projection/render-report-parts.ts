import type { RecordedCriterion, RunRecord } from '../../contracts/run-record.ts';
import { countOf } from '../../core/text/format.ts';
import { bullets, oneLine, cutLine, embedMarkdown } from '../../core/text/markdown.ts';
import type { EffectReceipt, RecordedEffect } from '../../contracts/effect.ts';
import { treePaths } from './paths.ts';
import { resultLimits } from './limits.ts';
import type { Ref } from '../../contracts/ref.ts';
import { findDisputes, type Dispute, type TriadDissent } from '../../core/pool/find-conflicts.ts';
import { describeGuarded } from '../../core/plan/rule-of-two.ts';
import { listDeliverables } from '../../core/run/list-deliverables.ts';
import { findDissent } from '../../core/spec/read-spec.ts';
import { readEnd } from '../../core/executor.ts';
import { textOf, type RecordTexts } from './record-texts.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { TeamOutcome } from '../../contracts/team-run.ts';
import { renderTeamCosts } from './render-team.ts';
import type { WaveDecision } from '../../contracts/wave-plan.ts';

/** Criteria under the heading of how they ended. */
interface Group {
  readonly heading: string;
  readonly holds: (criterion: RecordedCriterion) => boolean;
}

const groups: readonly Group[] = [
  {
    heading: '### Met',
    holds: ({ state, question_id }) => state === 'met' && question_id === undefined,
  },
  {
    heading: '### Met by your answer',
    holds: ({ state, question_id }) => state === 'met' && question_id !== undefined,
  },
  { heading: '### Not met', holds: ({ state }) => state === 'open' },
  { heading: '### Waived by you', holds: ({ state }) => state === 'waived' },
];

/**
 * Renders the criteria by how they ended, each with its evidence, the user's answer or the reason why it is not met.
 */
export function renderCriteria(record: RunRecord): string {
  const sections = groups.flatMap(({ heading, holds }) => {
    const inGroup = record.criteria.filter(holds);
    if (inGroup.length === 0) return [];
    return [
      `${heading}\n\n${bullets(
        inGroup.map((one) => describe(one, record)),
        '',
      )}`,
    ];
  });
  return ['## Criteria', ...(sections.length === 0 ? ['No criterion was set.'] : sections)].join(
    '\n\n',
  );
}

function describe(criterion: RecordedCriterion, record: RunRecord): string {
  const { criterion_id, state, description, delegation_id, question_id, note } = criterion;
  const what = `\`${criterion_id}\`: ${oneLine(description)}`;
  if (state === 'waived' && question_id === undefined) return `${what}\nBy an instruction`;
  if (question_id !== undefined) return `${what}\n${describeAnswer(question_id, record)}`;
  const who = delegation_id === null ? '' : ` (${delegation_id})`;
  if (state === 'met') return `${what}\nEvidence${who}: ${oneLine(note)}`;
  return `${what}\nWhy not${who}: ${oneLine(note === '' ? 'No work on it was finished.' : note)}`;
}

function describeAnswer(questionId: string, record: RunRecord): string {
  const answered = record.answered_questions.find((one) => one.question_id === questionId);
  if (answered === undefined) return `Question ${questionId}`;
  const { text, answer, answered_by } = answered;
  const whose = answered_by === 'user' ? 'Your answer' : `Answer of ${oneLine(answered_by)}`;
  return `Question ${questionId}: ${oneLine(text)}\n${whose}: ${oneLine(answer)}`;
}

/** Lists the delegations whose changes needed approvals by the Rule of Two. Null when there were none. */
export function renderGuarded({ waves }: RunRecord): string | null {
  const lines = waves.flatMap(({ guarded = [] }) => guarded.map(describeGuarded)).map(oneLine);
  return lines.length === 0 ? null : `## Rule of Two\n\n${bullets(lines, '')}`;
}

/** Lists the changes of tools outside of the run, and those that are unconfirmed. Empty parts are null. */
export function renderResultEffects({ effects = [] }: RunRecord): readonly (string | null)[] {
  // After several changes to one target, the newest is in effect.
  const confirmed = new Map(
    effects
      .filter(({ state, receipt }) => state === 'confirmed' && receipt?.web === undefined)
      .map((one) => [one.target, one]),
  );
  const unclear = effects.filter(({ state }) => state === 'unverified' || state === 'skipped');
  return [
    listEffects(
      '## What was changed outside of the run',
      [...confirmed.values()].map(describeConfirmed),
    ),
    listEffects('## Changes that are not confirmed', unclear.map(describeUnclear)),
  ];
}

function listEffects(heading: string, effects: readonly string[]): string | null {
  const options = { charsMax: resultLimits.lineCharsMax, whole: treePaths.effects };
  return renderList(
    heading,
    effects.map((one) => cutLine(one, options)),
    treePaths.effects,
  );
}

function describeReceipt({ bytes, removed, replaced_ref, command, call }: EffectReceipt): string {
  if (command !== undefined) {
    const { exit_code, confined } = command;
    const end = exit_code === null ? 'ended at a limit' : `exit code ${exit_code}`;
    return confined ? end : `${end}, unconfined`;
  }
  if (call === true) return 'called';
  const change = removed === true ? 'removed' : `${bytes} bytes`;
  return replaced_ref === undefined ? change : `${change}; the content before is kept`;
}

function describeConfirmed({ target, receipt, reason, delegation_id }: RecordedEffect): string {
  const proof = receipt === null ? reason : describeReceipt(receipt);
  return `\`${target}\` by ${delegation_id}: ${proof}`;
}

function describeUnclear({ target, tool, reason, delegation_id }: RecordedEffect): string {
  // The call did not say what it was to change.
  if (target === '') return `A call of ${delegation_id} (${tool}): ${reason}`;
  return `\`${target}\` by ${delegation_id} (${tool}): ${reason}`;
}

/** Renders entries below a heading, with the number of further ones and their place. Null without entries. */
export function renderList(
  heading: string,
  entries: readonly string[],
  rest: string,
): string | null {
  if (entries.length === 0) return null;
  const shown = entries.slice(0, resultLimits.listEntriesMax);
  const more = entries.length - shown.length;
  const tail = more === 0 ? '' : `\n- … and ${more} more: ${rest}`;
  return `${heading}\n\n${bullets(shown, '')}${tail}`;
}

/** Deliverable whose triad did not agree on all of it, or whose team may have triads that did not. */
interface Disputed {
  readonly delegation_id: string;
  readonly wave: number;
  /** Report of the triad's phase that has the disputes. */
  readonly dissent_ref: Ref | null;
  readonly team_ref: Ref | null;
  /** The planner's decision on the wave. */
  readonly decision_ref: Ref | null;
}

export function listDisputed(record: RunRecord): readonly Disputed[] {
  return listDeliverables(record).flatMap((outcome) => {
    const end = readEnd(outcome.executor);
    const dissent_ref = end?.kind === 'triad' ? end.dissent_ref : null;
    const team_ref = end?.kind === 'team' ? end.report_ref : null;
    if (dissent_ref === null && team_ref === null) return [];
    const { delegation_id, wave } = outcome;
    const decision_ref = record.waves.find((one) => one.wave === wave)?.decision_ref ?? null;
    return [{ delegation_id, wave, dissent_ref, team_ref, decision_ref }];
  });
}

/** Lists the ids of deliverables on which a triad, alone or in a team, did not agree. Each once. */
export function listDisagreed(record: RunRecord, texts: RecordTexts): readonly string[] {
  const disputed = listDisputed(record).filter((one) =>
    dissentOf(one, texts).some((dissent) => findDisputes(one.wave, [dissent]).length > 0),
  );
  return [...new Set(disputed.map(({ delegation_id }) => delegation_id))];
}

/** Renders the disputes that a triad left open, and the planner's decision on each. Null without any. */
export function renderMinorityReports(record: RunRecord, texts: RecordTexts): string | null {
  const parts = listDisputed(record).flatMap((one) => {
    const decision = one.decision_ref === null ? null : textOf(texts.decisions, one.decision_ref);
    return dissentOf(one, texts).flatMap((dissent) => {
      const lines = findDisputes(one.wave, [dissent]).map((two) => describeDispute(two, decision));
      const { delegation_id } = dissent;
      return lines.length === 0
        ? []
        : [`### ${delegation_id}\n\n${listLines(delegation_id, lines)}`];
    });
  });
  return parts.length === 0 ? null : ['## Minority reports', ...parts].join('\n\n');
}

function dissentOf(
  { delegation_id, dissent_ref, team_ref }: Disputed,
  texts: RecordTexts,
): readonly TriadDissent[] {
  const ofTeam = team_ref === null ? [] : textOf(texts.teams, team_ref).dissent;
  if (dissent_ref === null) return ofTeam;
  const { spec } = textOf(texts.phases, dissent_ref).report;
  return [...ofTeam, { delegation_id, claims: spec.claims, dissent: findDissent(spec) }];
}

function describeDispute(dispute: Dispute, decision: WaveDecision | null): string {
  const sides = dispute.conflict.sides.map(
    ({ source, value }) => `${source.slice(source.lastIndexOf('/') + 1)}: ${value}`,
  );
  return `\`${dispute.section_id}\`: ${sides.join('; ')}. ${describeRuling(dispute, decision)}`;
}

function describeRuling({ conflict }: Dispute, decision: WaveDecision | null): string {
  const ruling = decision?.planner_decision.conflicts_resolved.find(
    (one) => one.conflict.trim() === conflict.conflict_id,
  );
  if (ruling === undefined) return 'It is undecided.';
  return `The planner let ${oneLine(ruling.origin)} stand: ${ruling.resolution}`;
}

function listLines(delegationId: string, lines: readonly string[]): string {
  const whole = treePaths.triadPhase(delegationId, 'execute');
  const shown = lines.map((line) => cutLine(line, { charsMax: resultLimits.lineCharsMax, whole }));
  return bullets([...shown, `What each of them says: ${whole}`], '');
}

interface DoneByTeam extends DelegationOutcome {
  readonly team: TeamOutcome;
}

function listTeams(record: RunRecord): readonly DoneByTeam[] {
  return record.waves
    .flatMap(({ outcomes }) => outcomes)
    .flatMap((outcome) => {
      const { executor } = outcome;
      if (executor.kind !== 'team' || executor.work === null) return [];
      return [{ ...outcome, team: executor.work }];
    });
}

/** Returns the output of a team that did not complete; null for a completed one. */
function partialOutput({ status, output_ref }: DelegationOutcome): Ref | null {
  return status === 'completed' ? null : output_ref;
}

/** Renders for each team the members' tasks and costs, and its partial output. Null without a team. */
export function renderResultTeams(record: RunRecord, texts: RecordTexts): string | null {
  const parts = listTeams(record).map((one) => renderOneTeam(one, texts));
  return parts.length === 0 ? null : ['## Teams', ...parts].join('\n\n');
}

function renderOneTeam(one: DoneByTeam, texts: RecordTexts): string {
  const { delegation_id, title, team } = one;
  return [
    `### ${delegation_id}: ${oneLine(title)}`,
    bullets(describeEnd(one), ''),
    renderTeamCosts(team),
    ...renderBrought(one, texts),
  ].join('\n\n');
}

function describeEnd({ delegation_id, status, reason, team }: DoneByTeam): readonly string[] {
  const whole = treePaths.team(delegation_id);
  const shorten = (text: string): string =>
    cutLine(text, { charsMax: resultLimits.lineCharsMax, whole });
  const counts = Object.entries(team.tasks)
    .filter(([, count]) => count > 0)
    .map(([how, count]) => `${count} ${how.replaceAll('_', ' ')}`);
  return [
    `${status}${reason === '' ? '' : `: ${shorten(reason)}`}`,
    `Tasks: ${counts.length === 0 ? 'none' : counts.join(', ')}`,
    ...(team.partial ? ['Partial: it may hold less than was asked for'] : []),
    ...team.notes.map(shorten),
    `Who did what, and what each brought: ${whole}`,
  ];
}

function renderBrought(one: DoneByTeam, texts: RecordTexts): readonly string[] {
  const ref = partialOutput(one);
  if (ref === null) return [];
  const text = embedMarkdown(textOf(texts.outputs, ref).compact_md, {
    depth: 3,
    charsMax: resultLimits.waveCompactCharsMax,
    whole: `artifact ${ref}`,
  });
  return [text];
}

/** Lists outputs that a verifier saw and that were not verified in the end; null without any. */
export function renderUnverified({ waves }: RunRecord): string | null {
  const lines = waves
    .flatMap(({ outcomes }) => outcomes)
    .flatMap(({ delegation_id, agent_id, title, reason, verification }) => {
      if (verification === undefined || verification.status === 'verified') return [];
      const { verified_by, status, attempts } = verification;
      if (attempts === 0) return [];
      const text = `\`${delegation_id}\` by ${agent_id}, ${status} after ${countOf(attempts, 'verification')} by ${verified_by}: ${oneLine(title)}. ${oneLine(reason)}`;
      const whole = 'agents/<agent>/verification_results.json';
      return [cutLine(text, { charsMax: resultLimits.lineCharsMax, whole })];
    });
  return lines.length === 0 ? null : `## Not verified\n\n${bullets(lines, '')}`;
}
