/**
 * Labels of a run's position, and timeline labels of a delegation, of its triad and of its team.
 */
import type { PlannedDelegation } from '../../contracts/messages.ts';
import { plainText } from '../text/markdown.ts';
import type { DesignStageName } from '../../contracts/names.ts';
import { engineLimits } from '../limits.ts';
import type {
  DesignView,
  EvaluationView,
  StatusView,
  VerificationView,
} from '../../contracts/views.ts';
import { countOf } from '../text/format.ts';
import { cleanLine, cutText } from '../text/cut-text.ts';
import type { TriadPhase, TriadType } from '../../contracts/triad.ts';
import type { ModeChoice } from '../../contracts/limits.ts';

interface Position extends Pick<StatusView, 'wave' | 'waves_allowed'> {
  readonly design?: DesignView | undefined;
  readonly stages_at_work?: readonly string[] | undefined;
  readonly evaluation?: EvaluationView | undefined;
}

/**
 * Returns `wave 2 of 5`, or `design: 3 stages done, now sequencing`; between two stages the last one that is done. Of an
 * evaluation, its cells. Empty before all of them.
 */
export function describePosition(position: Position): string {
  const now = describeStages(position.stages_at_work ?? []);
  const where = describePlace(position, now === '');
  return [where, ...(now === '' ? [] : [`now ${now}`])].filter((part) => part !== '').join(', ');
}

function describePlace(
  { wave, waves_allowed, design, evaluation }: Position,
  isBetween: boolean,
): string {
  if (evaluation !== undefined) return countCells(evaluation);
  if (design === undefined) return wave > 0 ? `wave ${wave} of ${waves_allowed}` : '';
  const { stages_done, last_stage } = design;
  const isNamed = isBetween && last_stage !== null;
  const last = isNamed ? `, the last one ${last_stage.replaceAll('_', ' ')}` : '';
  return `design: ${countOf(stages_done, 'stage')} done${last}`;
}

/** Returns `3 of 6 cells done (1 from before), 2 passed, 2 at work, 1 to start`. */
export function countCells({
  waiting,
  at_work,
  passed,
  not_passed,
  cached,
}: EvaluationView): string {
  const done = passed + not_passed;
  return [
    `${done} of ${countOf(done + at_work.length + waiting, 'cell')} done (${cached} from before)`,
    `${passed} passed`,
    `${at_work.length} at work`,
    `${waiting} to start`,
  ].join(', ');
}

/** Joins the stages at work for people. */
export function describeStages(stages: readonly string[]): string {
  return stages.map((stage) => plainText(stage, 100)).join('; ');
}

/** @param subject Technology, agent_name or task_id that it is about. */
export function nameStage(stage: DesignStageName, subject: string | null): string {
  return `${stage.replaceAll('_', ' ')}${subject === null ? '' : `: ${subject}`}`;
}

/** Returns `designed mode: 3 agents (directly: at most 2)`. */
export function describeMode({ mode, reasons }: ModeChoice): string {
  return `${mode} mode: ${reasons.join(', ')}`;
}

/** Names the executor of a delegation: its agent, a triad whose output that agent writes, or a team that it leads. */
export function describeExecutor({
  agent_id,
  executor,
}: Pick<PlannedDelegation, 'agent_id' | 'executor'>): string {
  const agent = plainText(agent_id, 60);
  switch (executor.kind) {
    case 'agent':
      return agent;
    case 'triad':
      return `${executor.type} triad, written by ${agent}`;
    case 'team':
      return `${`team ${plainText(executor.team_id ?? '', 60)}`.trimEnd()}, led by ${agent}`;
  }
}

/** Returns `verified by tester, attempt 2 of 5`, and the like while it is not. */
export function describeVerification(view: VerificationView): string {
  const { verified_by, state, attempt, attempts_max } = view;
  const name = verified_by === '' ? 'no agent' : plainText(verified_by, 60);
  return `${verificationStates[state]} ${name}, attempt ${attempt} of ${attempts_max}`;
}

const verificationStates: Readonly<Record<VerificationView['state'], string>> = {
  working: 'to be verified by',
  verifying: 'being verified by',
  verified: 'verified by',
  unverified: 'not verified by',
};

/**
 * Returns `critic · negotiate · round 2`, or `mason · execute · round 1 · write_file`. @param tool Undefined for a
 * model call.
 */
export function memberSummary({ member, phase, round }: MemberAt, tool?: string): string {
  const label = `${member} · ${phase} · round ${round}`;
  return cleanLine(tool === undefined ? label : `${label} · ${tool}`, engineLimits.labelCharsMax);
}

/** A member's place in its triad. */
interface MemberAt {
  readonly member: string;
  readonly phase: TriadPhase;
  readonly round: number;
}

/**
 * Returns the label of a delegation: `researcher · Prices`, `dialectic triad · Compare the options` or `team desk ·
 * Prices`.
 */
export function delegationSummary({
  title,
  ...executed
}: Pick<PlannedDelegation, 'agent_id' | 'title' | 'executor'>): string {
  return cleanLine(`${nameExecutor(executed)} · ${title}`, engineLimits.labelCharsMax);
}

function nameExecutor({
  agent_id,
  executor,
}: Pick<PlannedDelegation, 'agent_id' | 'executor'>): string {
  switch (executor.kind) {
    case 'agent':
      return agent_id;
    case 'triad':
      return `${executor.type} triad`;
    case 'team':
      return `team ${executor.team_id ?? ''}`.trimEnd();
  }
}

/** Returns the label of a phase's workflow: `dialectic · negotiate · Compare the options`. */
export function phaseSummary(type: TriadType, phase: TriadPhase, title: string): string {
  return cleanLine(`${type} · ${phase} · ${title}`, engineLimits.labelCharsMax);
}

/** `market-research · record the team`: several delegations share the timeline of their wave. */
export function stepSummary(delegationId: string, step: string): string {
  return cleanLine(`${delegationId} · ${step}`, engineLimits.labelCharsMax);
}

/** `researcher · market-research · turn 2`. */
export function turnSummary(agent: string, purpose: string, turn: number): string {
  const end = ` · turn ${turn}`;
  const begin = cutText(`${agent} · ${purpose}`.replace(/\s+/g, ' '), 100);
  return cutText(begin + end, engineLimits.labelCharsMax);
}
