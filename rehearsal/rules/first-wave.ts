import { chooseAgent } from './choose-agent.ts';
import { textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { Prompt } from './prompt.ts';
import { quote } from '../quote.ts';
import { askMark, slipMark } from './rehearsal-marks.ts';
import { planTeam } from './team-plan.ts';
import { planTriad } from './triad-plan.ts';

/** A task of the first wave, before agents and ids of inputs are filled in. */
interface Task {
  readonly id: string;
  readonly title: string;
  readonly work: string;
  /** Words in the description of a fitting agent. */
  readonly words: readonly string[];
  readonly criteria: readonly [string, string];
  readonly after: readonly string[];
  readonly produces: readonly string[];
  /** Names of produced outputs that it needs, besides the delegations before it. */
  readonly needs: readonly string[];
}

/** The task for a triad or a team, if the goal asks for one: its options can be argued about and divided. */
const sharedTask = 'compare-options';

/** The task that also takes the criteria that were open before the first wave: the user's own. */
const resultTask = 'write-result';

const tasks: readonly Task[] = [
  {
    id: 'gather-facts',
    title: 'Gather the facts',
    work: `Gather the facts that the goal rests on. ${askMark}`,
    words: ['research', 'fact', 'find', 'gather', 'source', 'investigat', 'analy'],
    criteria: [
      'At least three facts that matter for the goal are named.',
      'It is said who the result is for.',
    ],
    after: [],
    needs: [],
    produces: [],
  },
  {
    id: sharedTask,
    title: 'Compare the options',
    work: `List the ways to reach the goal and compare them. ${slipMark}`,
    words: ['compar', 'option', 'design', 'plan', 'architect', 'evaluat', 'analy', 'critic'],
    criteria: [
      'At least two ways to reach the goal are compared.',
      'One way is recommended, with the reason.',
    ],
    after: [],
    needs: [],
    produces: [],
  },
  {
    id: resultTask,
    title: 'Write the result',
    work: 'Write the result from the facts and the recommended way.',
    words: ['writ', 'draft', 'document', 'author', 'text', 'summar'],
    criteria: [
      'The result answers the goal in one text.',
      'The result names the facts and the way it rests on.',
    ],
    after: ['gather-facts', 'compare-options'],
    needs: [],
    produces: ['result-draft'],
  },
  {
    id: 'review-result',
    title: 'Review the result',
    work: 'Read the result as somebody who was not there, and say what is missing.',
    words: ['review', 'verif', 'check', 'test', 'critic', 'quality', 'edit'],
    criteria: ['The result was read against the goal.', 'What is missing is named, or "nothing".'],
    after: [resultTask],
    needs: ['result-draft'],
    produces: [],
  },
];

/** Most open criteria of one delegation, which may carry 20 with two of its own. */
const openCriteriaMax = 18;

function criteriaOf(task: Task, openCriteria: readonly JsonObject[]): readonly JsonObject[] {
  const own = task.criteria.map((description, index) => ({
    criterion_id: `${task.id}-c${index + 1}`,
    description,
  }));
  if (task.id !== resultTask) return own;
  const open = openCriteria.slice(0, openCriteriaMax).map((criterion) => ({
    criterion_id: textOf(criterion['criterion_id']),
    description: textOf(criterion['description']) || 'Set by the user.',
  }));
  return [...own, ...open];
}

/** Least number of agents for a review, which another agent than the authors must do. */
const agentsForReviewMin = 3;

/** Plans wave 1: two delegations in parallel, one that depends on both, and a review when there are enough agents. */
export function firstWave(prompt: Prompt): readonly JsonObject[] {
  const known = prompt.knownInputs.includes('goal') ? ['goal'] : [];
  const used = new Set<string>();
  const planned = tasks.slice(0, prompt.agents.length >= agentsForReviewMin ? 4 : 3);
  return planned.map((task) => {
    const agentId = chooseAgent(prompt.agents, task.words, used);
    used.add(agentId);
    return {
      delegation_id: task.id,
      agent_id: agentId,
      title: `${task.title} for ${quote(prompt.goal, 60)}`,
      task_description: `This is a rehearsal for the goal ${quote(prompt.goal, 400)}. ${task.work}`,
      acceptance_criteria: criteriaOf(task, prompt.openCriteria),
      required_inputs: [...known, ...task.after, ...task.needs],
      provided_inputs: known,
      depends_on: task.after,
      produces: task.produces,
      ...(task.id === sharedTask && (planTeam(prompt) ?? planTriad(prompt))),
    };
  });
}
