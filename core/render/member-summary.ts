/**
 * Timeline labels of a delegation, of its triad and of its team.
 */
import type { PlannedDelegation } from '../../contracts/messages.ts';
import type { TriadPhase, TriadType } from '../../contracts/triad.ts';
import { engineLimits } from '../limits.ts';
import { cleanLine } from '../text/clean-line.ts';

/** `critic · negotiate · round 2`, or `mason · execute · round 1 · write_file`. @param tool If undefined, a model call. */
export function memberSummary({ member, phase, round }: MemberAt, tool?: string): string {
  const label = `${member} · ${phase} · round ${round}`;
  return cleanLine(tool === undefined ? label : `${label} · ${tool}`, engineLimits.labelCharsMax);
}

/** Who does something where. */
interface MemberAt {
  readonly member: string;
  readonly phase: TriadPhase;
  readonly round: number;
}

/** `researcher · Prices`, `dialectic triad · Compare the options` or `team desk · Prices`: of a delegation's workflow. */
export function delegationSummary(
  delegation: Pick<PlannedDelegation, 'agent_id' | 'title' | 'executor'>,
): string {
  return cleanLine(`${nameExecutor(delegation)} · ${delegation.title}`, engineLimits.labelCharsMax);
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

/** `dialectic · negotiate · Compare the options`: of a phase's workflow. */
export function phaseSummary(type: TriadType, phase: TriadPhase, title: string): string {
  return cleanLine(`${type} · ${phase} · ${title}`, engineLimits.labelCharsMax);
}
