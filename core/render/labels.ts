/**
 * Timeline labels of a delegation, of its triad and of its team.
 */
import type { PlannedDelegation } from '../../contracts/messages.ts';
import { plainText } from '../text/markdown.ts';
import type { TriadPhase, TriadType } from '../../contracts/triad.ts';
import { engineLimits } from '../limits.ts';
import { cleanLine, cutText } from '../text/cut-text.ts';

/** Names the executor of a delegation: its agent, a triad whose output that agent writes, or a team that it leads. */
export function describeExecutor({
  agent_id,
  triad,
  team,
}: Pick<PlannedDelegation, 'agent_id' | 'triad' | 'team'>): string {
  const agent = plainText(agent_id, 60);
  if (team !== undefined) return `${`team ${plainText(team, 60)}`.trimEnd()}, led by ${agent}`;
  return triad === undefined ? agent : `${triad} triad, written by ${agent}`;
}

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
  agent_id,
  title,
  triad,
  team,
}: {
  readonly agent_id: string;
  readonly title: string;
  readonly triad?: { readonly type: TriadType } | undefined;
  readonly team?: { readonly team_id?: string | undefined } | undefined;
}): string {
  const alone = triad === undefined ? agent_id : `${triad.type} triad`;
  const executor = team === undefined ? alone : `team ${team.team_id ?? ''}`.trimEnd();
  return cleanLine(`${executor} · ${title}`, engineLimits.labelCharsMax);
}

/** Returns the label of a phase's workflow: `dialectic · negotiate · Compare the options`. */
export function phaseSummary(type: TriadType, phase: TriadPhase, title: string): string {
  return cleanLine(`${type} · ${phase} · ${title}`, engineLimits.labelCharsMax);
}

/** `researcher · market-research · turn 2`. */
export function turnSummary(agent: string, purpose: string, turn: number): string {
  const end = ` · turn ${turn}`;
  const begin = cutText(`${agent} · ${purpose}`.replace(/\s+/g, ' '), 100);
  return cutText(begin + end, engineLimits.labelCharsMax);
}
