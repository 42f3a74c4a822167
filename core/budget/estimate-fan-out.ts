/**
 * What a wave is expected to take. There is no comparison with less work: what one call would take for the whole goal,
 * nobody has measured.
 *
 * Invariants:
 *   FO1. More delegations never take fewer tokens.
 *   FO2. A triad takes more than one agent does for the same task.
 *   FO3. A team takes more than the agents do who are its members.
 */
import type { FanOutEstimate } from '../../contracts/budget.ts';
import type { ExecutorKind } from '../../contracts/executor.ts';
import type { PlannedDelegation } from '../../contracts/messages.ts';
import type { Usage } from '../../contracts/usage.ts';

/** Taken for granted where nothing is known yet: a look at a detail, then the answer. */
const turnsEach = 2;

/** Of a triad that agrees soon: three members in three phases, each of which they begin afresh. */
const triadTurns = 9;

/** Of a team: tasks that its leader gives out, and turns of the leader: one to do so, one to check, one to put together. */
const teamTasks = 3;
const leaderTurns = 3;

/** Output tokens of a delegation: compact and detailed result, and the coverage of its criteria. */
const outputEach = 1_500;

/**
 * The shared part is measured: the planner has just read it. Delegations read it each for themselves, a triad once for
 * each turn, a team once for each member and for its leader.
 *
 * @param planner Usage of the planner for this plan.
 * @returns null when nobody planned, so nothing is measured.
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

/** Input tokens of a conversation whose every turn reads what it wrote before. */
function sumOfTurns(turns: number, first: number, growth: number): number {
  return turns * first + (growth * turns * (turns - 1)) / 2;
}
