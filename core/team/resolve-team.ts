/**
 * Fills in the defaults of a team's definition before it starts (seed 002, configuration).
 *
 * Invariants:
 *   TRS1. The definition's values stand, in its order, disabled members included; the others are the defaults of
 *         `core/limits.ts`, or the capabilities of a member's agents.
 *         `core/limits.ts`, or what the agents of a member can do.
 *   TRS2. No task has more time than its team: a longer member_timeout is lowered to it. A note says so, unless it was
 *         the default.
 *   TRS3. Equal members have the same executor in every team; other agents or other teams have another one.
 */
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { NamedTeam, TeamMember, TeamPlan } from '../../contracts/team.ts';
import type { TeamSeat, TeamSetup } from '../../contracts/team-run.ts';
import { teamName } from '../executor.ts';
import { defaultTeam, engineLimits } from '../limits.ts';
import { findWriter } from '../triad/roles.ts';
import { chooseLeader } from './summarise-teams.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { cleanLine, cutText } from '../text/cut-text.ts';
import type { TriadPlan } from '../../contracts/triad.ts';
import { isPerson } from '../questions/answer-kinds.ts';

/** Agents and teams that can be members. */
export interface TeamRegistry {
  readonly agents: readonly Pick<AgentDefinition, 'agent_id' | 'capabilities'>[];
  readonly teams: readonly NamedTeam[];
}

/** A named team, or one that was defined for one delegation. */
export type TeamDefinition = Omit<NamedTeam, 'team_id'> & Pick<TeamPlan, 'team_id'>;

/** Most capabilities of a member, equal to those of an agent. */
const capabilitiesMax = 20;

/** @returns null when the plan names an unknown team. */
export function findDefinition(plan: TeamPlan, teams: readonly NamedTeam[]): TeamDefinition | null {
  if (plan.team_id === undefined) return plan;
  return teams.find(({ team_id }) => team_id === plan.team_id) ?? null;
}

/** @param leader Agent of the delegation that the team does. */
export function resolveTeam(
  definition: TeamDefinition,
  leader: string,
  registry: TeamRegistry,
): TeamSetup {
  return {
    team_id: teamName(definition),
    leader,
    model: definition.model ?? null,
    members: (definition.members ?? []).map((member) => seatMember(member, registry)),
    ...resolveLimits(definition),
    ...listFunctions(definition),
    thread_id: definition.thread_id ?? null,
    user_id: definition.user_id ?? null,
  };
}

type SetLimits = Pick<
  TeamSetup,
  | 'allow_parallel'
  | 'max_parallel'
  | 'max_delegations'
  | 'timeout'
  | 'member_timeout'
  | 'max_retries'
  | 'notes'
>;

function resolveLimits(definition: TeamDefinition): SetLimits {
  const timeout = definition.timeout ?? defaultTeam.timeout;
  const { member_timeout = defaultTeam.member_timeout } = definition;
  const isTold = definition.member_timeout !== undefined && member_timeout > timeout;
  const lowered = `member_timeout was lowered from ${member_timeout} s to ${timeout} s: the whole team has no more time.`;
  return {
    allow_parallel: definition.allow_parallel ?? false,
    max_parallel: definition.max_parallel ?? defaultTeam.max_parallel,
    max_delegations: definition.max_delegations ?? defaultTeam.max_delegations,
    timeout,
    member_timeout: Math.min(member_timeout, timeout),
    max_retries: definition.max_retries ?? defaultTeam.max_retries,
    notes: isTold ? [lowered] : [],
  };
}

function listFunctions({
  input_middlewares,
  output_middlewares,
  guardrails,
}: TeamDefinition): Pick<TeamSetup, 'input_middlewares' | 'output_middlewares' | 'guardrails'> {
  return {
    input_middlewares: input_middlewares ?? [],
    output_middlewares: output_middlewares ?? [],
    guardrails: { input: guardrails?.input ?? [], output: guardrails?.output ?? [] },
  };
}

function seatMember(member: TeamMember, registry: TeamRegistry): TeamSeat {
  const { id, capabilities, priority, enabled, ...executor } = member;
  const seat = seatExecutor({ id, ...executor }, registry);
  return {
    ...seat,
    member_id: id,
    capabilities: capabilities ?? seat.capabilities,
    priority: priority ?? 0,
    enabled: enabled ?? true,
  };
}

type Seated = Omit<TeamSeat, 'member_id' | 'priority' | 'enabled'>;

function seatExecutor(
  member: Pick<TeamMember, 'id' | 'agent_id' | 'triad' | 'team_id'>,
  registry: TeamRegistry,
): Seated {
  const { triad, team_id } = member;
  if (triad !== undefined) return seatTriad(triad, registry);
  if (team_id !== undefined) return seatTeam(team_id, registry);
  const agent_id = member.agent_id ?? member.id;
  const capabilities = listCapabilities([agent_id], registry);
  return { executor: { kind: 'agent' }, executor_id: `agent:${agent_id}`, agent_id, capabilities };
}

function seatTriad({ type, members }: TriadPlan, registry: TeamRegistry): Seated {
  const agentIds = members.map(({ agent_id }) => agent_id);
  return {
    executor: { kind: 'triad', type },
    executor_id: `triad:${type}:${agentIds.join(',')}`,
    agent_id: findWriter(type, members)?.agent_id ?? '',
    capabilities: listCapabilities(agentIds, registry),
  };
}

/**
 * Seats a team as a member. Its capabilities are those of its members; nested teams list theirs in their own
 * definition.
 */
function seatTeam(teamId: string, registry: TeamRegistry): Seated {
  const team = registry.teams.find(({ team_id }) => team_id === teamId);
  const members = (team?.members ?? []).filter(({ enabled }) => enabled !== false);
  const inherited = members.flatMap(({ id, agent_id, triad, team_id }) => {
    if (triad !== undefined) return triad.members.map((one) => one.agent_id);
    return team_id === undefined ? [agent_id ?? id] : [];
  });
  const told = members.flatMap(({ capabilities }) => capabilities ?? []);
  return {
    executor: { kind: 'team', team_id: teamId },
    executor_id: `team:${teamId}`,
    agent_id: chooseLeader(team ?? {}, registry.agents),
    capabilities: cap([...told, ...listCapabilities(inherited, registry)]),
  };
}

function listCapabilities(
  agentIds: readonly string[],
  { agents }: Pick<TeamRegistry, 'agents'>,
): string[] {
  return cap(
    agentIds.flatMap((id) => agents.find(({ agent_id }) => agent_id === id)?.capabilities ?? []),
  );
}

function cap(capabilities: readonly string[]): string[] {
  return [...new Set(capabilities)].slice(0, capabilitiesMax);
}

/**
 * Words the question that a guardrail leaves to a person, and reads the answer.
 *
 * Invariants:
 *   GQ1. The text passes only by a clear "pass" of a person, never by a default, the planner or an assumption.
 *   GQ2. The question names guardrail, stage, delegation, reason and the address of the whole text.
 */

interface GuardedText {
  readonly name: string;
  readonly stage: 'input' | 'output';
  readonly reason: string;
  readonly subject_ref: Ref;
  readonly delegation_id: string;
}

const choices = ['pass', 'block'];

const reasonCharsMax = 800;

export function guardQuestion(shown: GuardedText): AskedQuestion {
  const { name, stage, reason, subject_ref, delegation_id } = shown;
  const text = [
    `May the ${stage} of the team pass the guardrail "${cleanLine(name, 120)}"?`,
    `Delegation: ${delegation_id}`,
    `Found: ${cleanLine(reason, reasonCharsMax)}`,
    `SHA-256 of the whole text as it is stored, and its address in the store: ${subject_ref}`,
  ].join('\n');
  return {
    text: cutText(text, engineLimits.questionCharsMax),
    why_it_matters:
      stage === 'input'
        ? 'Without a "pass" the team does not begin.'
        : 'Without a "pass" the answer is held back and the delegation fails.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: [...choices],
    default_answer: null,
  };
}

export function mayPassGuard(answer: DeliveredAnswer | undefined): boolean {
  return answer?.answer === 'pass' && isPerson(answer.answered_by);
}
