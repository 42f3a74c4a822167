/**
 * Chooses between direct and designed mode (seed 003, Q8).
 *
 * Invariants:
 *   MO1. A task for one or two agents, without dependencies and risky assumptions, is done directly.
 *   MO2. More than two agents, any dependency, or any risky assumption each call for a design.
 *   MO3. The reasons name every number that decided, and in direct mode all of them.
 */
import type { ModeChoice } from '../../contracts/mode-choice.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { KnownAnswer } from '../../contracts/question.ts';
import { isPerson } from '../questions/answer-kinds.ts';
import { countOf } from '../text/format.ts';

/** Numbers of a task, as far as they are known before it is designed. */
export interface ModeNumbers {
  /** Different agents that would work on it. */
  readonly agents: number;
  /** Hand-offs from one agent to another. */
  readonly dependencies: number;
  /** Assumptions that the work relies on and that may be wrong. */
  readonly risky_assumptions: number;
}

/**
 * Counts the numbers of a first plan. A triad or a team counts as the agent that answers for it. An answer that no person
 * gave is an assumption that the plan relies on.
 */
export function countForMode(
  delegations: readonly Pick<DelegationOutline, 'agent_id' | 'depends_on'>[],
  answers: readonly Pick<KnownAnswer, 'answered_by'>[],
): ModeNumbers {
  return {
    agents: new Set(delegations.map(({ agent_id }) => agent_id)).size,
    dependencies: delegations.reduce((sum, { depends_on }) => sum + depends_on.length, 0),
    risky_assumptions: answers.filter(({ answered_by }) => !isPerson(answered_by)).length,
  };
}

/** Most agents that one planner keeps in view without a design. */
const directAgentsMax = 2;

export function chooseMode(numbers: ModeNumbers): ModeChoice {
  const { agents, dependencies, risky_assumptions } = numbers;
  const criteria = [
    { said: countOf(agents, 'agent'), max: directAgentsMax, is: agents },
    { said: countOf(dependencies, 'dependency', 'dependencies'), max: 0, is: dependencies },
    { said: countOf(risky_assumptions, 'risky assumption'), max: 0, is: risky_assumptions },
  ];
  const describe = ({ said, max }: (typeof criteria)[number]): string =>
    `${said} (directly: at most ${max})`;
  const over = criteria.filter(({ is, max }) => is > max);
  return over.length > 0
    ? { mode: 'designed', reasons: over.map(describe) }
    : { mode: 'direct', reasons: criteria.map(describe) };
}
