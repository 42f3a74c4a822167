/**
 * Estimates the tokens that a wave will use. It is not compared with one call for the whole goal, because that was
 * never measured.
 *
 * Invariants:
 *   FO1. More delegations never take fewer tokens.
 *   FO2. A triad takes more tokens than one agent for the same task.
 *   FO3. A team takes more tokens than its members would as single agents.
 */
import type { FanOutEstimate } from '../../contracts/budget.ts';
import type { PlannedDelegation } from '../../contracts/messages.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { ExecutorKind } from '../../contracts/delegation.ts';

/** Turns of an agent before anything is measured: one that loads a detail, one that answers. */
const turnsEach = 2;

/** Turns of a triad that agrees soon: three members in three phases, each of which starts a new conversation. */
export const triadTurns = 9;

/**
 * Work of a team: tasks that its leader delegates, and three turns of the leader, to delegate, to check and to combine.
 */
const teamTasks = 3;
const leaderTurns = 3;

/** Output tokens of a delegation: compact and detailed result, and the coverage of its criteria. */
const outputEach = 1_500;

/**
 * Takes the size of the shared context from the planner, which has just read it. Each delegation reads it once, a triad
 * once for each turn, a team once for each member and for its leader.
 *
 * @param planner Usage of the planner for this plan.
 * @returns null when no planner ran, so nothing is measured.
 */
export function estimateFanOut(
  planner: Usage,
  planned: readonly Pick<PlannedDelegation, 'executor'>[],
): FanOutEstimate | null {
  const delegations = planned.length;
  if (planner.calls === 0 || delegations === 0) return null;
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = planner;
  const read = input_tokens + cache_creation_input_tokens + cache_read_input_tokens;
  const shared = Math.round(read / planner.calls);
  const task = Math.round(planner.output_tokens / planner.calls / delegations);
  const outputTurn = outputEach / turnsEach;
  const ofAgent = sumOfTurns(turnsEach, shared + task, outputTurn) + outputEach;
  const ofTriad = triadTurns * (shared + task + outputTurn);
  const ofLeader = sumOfTurns(leaderTurns, shared + task, outputTurn) + outputEach;
  const each: Readonly<Record<ExecutorKind, number>> = {
    agent: ofAgent,
    triad: ofTriad,
    team: teamTasks * ofAgent + ofLeader,
  };
  return { delegations, tokens: planned.reduce((sum, one) => sum + each[one.executor.kind], 0) };
}

/** Sums the input tokens of a conversation in which each turn rereads all earlier ones. */
function sumOfTurns(turns: number, first: number, growth: number): number {
  return turns * first + (growth * turns * (turns - 1)) / 2;
}
