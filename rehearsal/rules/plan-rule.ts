import { quote, slugOf, textOf, type JsonObject } from '../messages-api.ts';
import { chooseAgent, planTeam, planTriad } from './choose-agents.ts';
import type { Prompt } from './prompt.ts';
import { planRepair } from './repair-rule.ts';
import { askMark, isAudienceQuestion, slipMark } from './rehearsal-marks.ts';

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
function firstWave(prompt: Prompt): readonly JsonObject[] {
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

/** Most criteria that one delegation may carry. */
const criteriaMax = 20;

/** Groups the open criteria in the order of the list, at most `criteriaMax` in a group. */
function groupCriteria(criteria: readonly JsonObject[]): ReadonlyArray<[string, JsonObject[]]> {
  const groups: Array<[string, JsonObject[]]> = [];
  for (const criterion of criteria) {
    const name =
      /^(.+?)(?:-w\d+)?-c\d+$/u.exec(textOf(criterion['criterion_id']))?.[1] ?? 'follow-up';
    const open = groups.find(([known, members]) => known === name && members.length < criteriaMax);
    if (open === undefined) groups.push([name, [criterion]]);
    else open[1].push(criterion);
  }
  return groups;
}

/** Returns `<group>-w2`, or `<group>-w2-2` for the second delegation of the same group. Unique among `taken`. */
function nameDelegation(group: string, wave: number, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count += 1) {
    const suffix = count === 1 ? `-w${wave}` : `-w${wave}-${count}`;
    const id = `${slugOf(group, 40 - suffix.length)}${suffix}`;
    if (!taken.has(id)) return id;
  }
}

function audienceNote(prompt: Prompt): string {
  const answer = prompt.answers.find((item) => isAudienceQuestion(item.text))?.answer;
  return answer === undefined ? '' : ` The result is for ${quote(answer)}.`;
}

function laterWave(prompt: Prompt): readonly JsonObject[] {
  const taken = new Set<string>();
  const known = new Set(prompt.knownInputs);
  const groups = groupCriteria(prompt.openCriteria);
  const used = new Set<string>();
  const planned = groups.length > 0 ? groups : [['final-check', []] as [string, JsonObject[]]];
  return planned.map(([group, criteria]) => {
    const id = nameDelegation(group, prompt.wave, taken);
    taken.add(id);
    const agentId = chooseAgent(prompt.agents, group.split('-'), used, prompt.wave - 1);
    used.add(agentId);
    const inputs = [...new Set(['goal', group])].filter((name) => known.has(name));
    return {
      delegation_id: id,
      agent_id: agentId,
      title: `Rehearsal: follow up on ${quote(group, 40)}`,
      task_description:
        `This is a rehearsal for the goal ${quote(prompt.goal, 400)}. ` +
        `Meet the criteria that are still open after the earlier waves.${audienceNote(prompt)}`,
      acceptance_criteria:
        criteria.length > 0
          ? criteria.map((criterion) => ({
              criterion_id: textOf(criterion['criterion_id']),
              description: textOf(criterion['description']) || 'Still open.',
            }))
          : [{ criterion_id: `${id}-c1`, description: 'The rehearsed result was read once more.' }],
      required_inputs: inputs,
      provided_inputs: inputs,
      depends_on: [],
      // What it follows up on has left criteria open.
      needs: 'completed',
      produces: [],
    };
  });
}

/** Plans without agents: the planner asks the user instead of inventing an agent. */
function planWithoutAgents(goal: string): JsonObject {
  return {
    summary: `Rehearsal: no agent is listed, so nobody can work on ${quote(goal)}.`,
    delegations: [],
    needs_user_input: true,
    user_questions: [
      {
        text: `No agent is listed for ${quote(goal)}. How should the work be done?`,
        why_it_matters: 'A plan may only name listed agents.',
        priority: 'critical',
        expected_answer_format: 'text',
        choices: [],
        default_answer: null,
      },
    ],
    criteria_waived: [],
    criteria_met_by_answer: [],
  };
}

/**
 * Plans a wave like the planner, in the shape of a wave plan.
 *
 * Wave 1: work in parallel, a delegation that depends on all of it, and a review when there are three agents or more.
 * Later waves: one delegation for each group of open criteria, with another agent than in the wave before.
 */
export function planWave(prompt: Prompt): JsonObject {
  if (prompt.agents.length === 0) return planWithoutAgents(prompt.goal);
  const wave = planRepair(prompt) ?? (prompt.wave === 1 ? firstWave(prompt) : laterWave(prompt));
  const delegations = wave.slice(0, prompt.delegationsMax);
  return {
    summary:
      `Rehearsal of wave ${prompt.wave} for ${quote(prompt.goal, 200)}: ` +
      `${delegations.length} delegations by rule, no model was called.${audienceNote(prompt)}`,
    delegations,
    needs_user_input: false,
    user_questions: [],
    criteria_waived: [],
    criteria_met_by_answer: [],
  };
}
