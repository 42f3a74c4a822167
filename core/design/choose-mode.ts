/**
 * Chooses between direct and designed mode (seed 003, Q8).
 *
 * Invariants:
 *   MO1. A task for one or two agents, without dependencies and risky assumptions, is done directly.
 *   MO2. More than two agents, any dependency, or any risky assumption each call for a design.
 *   MO3. The reasons name every number that decided, and in direct mode all of them.
 */
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

/** Most agents that one planner keeps in view without a design. */
const directAgentsMax = 2;

export function chooseMode(numbers: ModeNumbers): {
  readonly mode: 'direct' | 'designed';
  readonly reasons: readonly string[];
} {
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
