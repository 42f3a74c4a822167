import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { Executor, ExecutorOf } from '../../contracts/executor.ts';
import type { TriadInput } from '../../contracts/triad.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutText, titleOf } from '../../core/text/cut-text.ts';
import { chooseMembers, findWriter } from '../../core/triad/roles.ts';
import { composeLoneDelegation } from './compose-plan.ts';

/** @returns the one delegation that a typed triad comes down to; null when there is no agent to be a member. */
export function seatTriad(
  input: TriadInput,
  agents: readonly Pick<AgentSummary, 'agent_id'>[],
): Delegation | null {
  const { type, task, rounds_max, sections, timeouts } = input;
  const members = input.members ?? chooseMembers(type, agents);
  if (members === null) return null;
  const executor: ExecutorOf<Executor, 'triad'> = {
    kind: 'triad',
    type,
    reason: 'It was asked for.',
    members,
    ...(rounds_max !== undefined && { rounds_max }),
    ...(sections !== undefined && { sections }),
    ...(timeouts !== undefined && { timeouts }),
  };
  // Members that don't fit the type are a fault, and then it does not matter whose agent stands here.
  const writer = findWriter(type, members) ?? members[0];
  return {
    ...composeLoneDelegation({
      agent_id: writer?.agent_id ?? '',
      title: titleOf(task),
      task_description: task,
      // Its text is that of the section too: it has to say what is wanted.
      acceptance_criteria: input.acceptance_criteria ?? [
        cutText(task, engineLimits.criterionCharsMax),
      ],
    }),
    executor,
  };
}
