import {
  type MessagesRequest,
  objectsOf,
  quote,
  stringsOf,
  textOf,
  isObject,
  type JsonObject,
} from '../messages-api.ts';
import { chooseAgent } from './choose-agents.ts';
import {
  changeDesign,
  goalEvidence,
  idsIn,
  newAgent,
  pagesIn,
  type DesignRequest,
} from './design-change-rule.ts';
import { judgeRules } from './judge-rule.ts';
import { firstOfEach, jsonBlock, listBlocks, textIn, type Prompt } from './prompt.ts';
import { audienceQuestion, isAudienceQuestion, readDesignMarks } from './rehearsal-marks.ts';

/** Task of every rehearsed design. */
interface RehearsedTask {
  readonly task: string;
  readonly title: string;
  readonly agent: string;
  readonly words: readonly string[];
  readonly after: readonly string[];
  readonly evidence: string;
}

const tasks: readonly RehearsedTask[] = [
  {
    task: 'gather_facts',
    title: 'Gather the facts',
    agent: 'facts_agent',
    words: ['research', 'fact', 'find', 'source'],
    after: [],
    evidence: 'At least three facts that matter for the goal are named.',
  },
  {
    task: 'compare_options',
    title: 'Compare the options',
    agent: 'options_agent',
    words: ['compar', 'option', 'analy', 'evaluat'],
    after: [],
    evidence: 'At least two ways to reach the goal are compared.',
  },
  {
    task: 'write_result',
    title: 'Write the result',
    agent: 'result_agent',
    words: ['writ', 'draft', 'document', 'text'],
    after: ['gather_facts', 'compare_options'],
    evidence: 'The result answers the goal in one text.',
  },
];

const verifier = 'verifier_agent';

const outputOf = ({ task, agent }: RehearsedTask): JsonObject => ({
  path: `agents/${agent}/task_output/${task}.md`,
  format: 'Markdown',
});

const ask = (goal: string): JsonObject => {
  const { text, choices, defaultAnswer } = audienceQuestion(goal);
  return {
    text,
    why_it_matters: 'A rehearsed design asks one question.',
    priority: 'high',
    expected_answer_format: 'choice',
    choices,
    default_answer: defaultAnswer,
  };
};

function interview({ goal, prompt }: DesignRequest): JsonObject {
  const answer = prompt.answers.find(({ text }) => isAudienceQuestion(text));
  return {
    task_name: 'rehearsal',
    accomplish: `Rehearsal: reach the goal ${quote(goal, 400)}.`,
    decisions: [
      {
        decision: 'The result is one text.',
        rationale: 'A rule of the rehearsal model decided it.',
        alternatives: 'None were looked at.',
      },
    ],
    constraints: [],
    questions_resolved:
      answer === undefined ? [] : [{ question: answer.text, answer: answer.answer }],
    open_items: [],
    integration_points: [],
    user_questions: answer === undefined ? [ask(goal)] : [],
  };
}

function brief({ goal }: DesignRequest): JsonObject {
  return {
    deliverables: [`A text for ${quote(goal)}`],
    hand_offs: ['Facts and options pass to the author of the result.'],
    failure_modes: ['The facts are not enough.'],
    success_criteria: ['The result answers the goal in one text.'],
    technologies: ['Markdown'],
    user_questions: [],
  };
}

function roster({ goal, prompt }: DesignRequest): JsonObject {
  const { needsNewAgent } = readDesignMarks(goal);
  const used = new Set<string>();
  // First, because no author may verify its own work.
  const checker = chooseAgent(prompt.agents, ['review', 'verif', 'check'], used);
  const others = prompt.agents.filter((one) => one['agent_id'] !== checker);
  const doers = others.length > 0 ? others : prompt.agents;
  const agents = tasks.map(({ agent, title, words }) => {
    const agent_id = chooseAgent(doers, words, used);
    used.add(agent_id);
    const isNew = used.size === 1 && needsNewAgent;
    const id = isNew ? newAgent.agent_id : agent_id;
    return { agent_name: agent, role: 'doer', responsibility: `${title}.`, agent_id: id };
  });
  return {
    agents: [
      ...agents,
      { agent_name: verifier, role: 'verifier', responsibility: 'Checks all.', agent_id: checker },
    ],
    new_agents: needsNewAgent ? [newAgent] : [],
  };
}

function recommendProofs(request: DesignRequest): JsonObject {
  const [first] = tasks;
  const dependent = idsIn(request).find(({ name }) => name === first?.task);
  if (first === undefined || dependent === undefined) return { risks: [], proofs_of_concept: [] };
  const evidence_id = 'sources-found';
  return {
    risks: [
      {
        risk_id: 'no-sources',
        assumption: 'There are facts to be found for the goal.',
        likelihood: 'medium',
        impact: 'high',
        mitigation: 'A proof of concept looks for one before the work begins.',
      },
    ],
    proofs_of_concept: [
      {
        risk_id: 'no-sources',
        task: 'find_one_fact',
        title: 'Find one fact',
        agent: first.agent,
        verified_by: verifier,
        instructions: '## Objective\nName one fact that matters for the goal.',
        success_criteria: ['One fact is named.'],
        failure_criteria: ['No fact is named.'],
        outputs: [{ path: `agents/${first.agent}/task_output/one_fact.md`, format: 'Markdown' }],
        evidence: [{ evidence_id, description: 'One fact that matters for the goal is named.' }],
        dependents: [dependent.id],
      },
    ],
  };
}

function placeProofs({ materials }: DesignRequest): JsonObject {
  const result = materials.findLast(({ stage }) => stage === 'poc_recommendation')?.['result'];
  const proofs = objectsOf(isObject(result) ? result['proofs_of_concept'] : []);
  return {
    positions: proofs.map((proof) => ({
      task: textOf(proof['task']),
      depends_on: [],
      before: stringsOf(proof['dependents']),
    })),
  };
}

function review({ goal, tasks: planned }: DesignRequest): JsonObject {
  const isMended = JSON.stringify(planned).includes('Rehearsal: answers a finding.');
  const { hasFinding, neverMends } = readDesignMarks(goal);
  const finding = {
    path: 'tasks/0/instructions',
    message: 'Rehearsal: the first task does not say what a fact is.',
    cure: 'Say it in its instructions.',
  };
  return {
    findings: (hasFinding || neverMends) && !isMended ? [finding] : [],
    remarks: ['Rehearsal: a rule reviewed this plan.'],
  };
}

const rules: Readonly<Record<string, (request: DesignRequest) => JsonObject>> = {
  interview,
  brief,
  roster,
  sequencing: () => ({
    tasks: tasks.map(({ task, title, agent, after }) => ({
      task,
      title,
      agent,
      purpose: `${title} for the goal.`,
      depends_on: after,
    })),
    max_parallel: 2,
  }),
  file_structure: () => ({
    tasks: tasks.map((one) => ({
      task: one.task,
      inputs: tasks
        .filter(({ task }) => one.after.includes(task))
        .map((source) => ({ ...outputOf(source), from: source.task })),
      outputs: [outputOf(one)],
    })),
  }),
  checkpoints: ({ goals }) => ({
    tasks: tasks.map(({ task, evidence }, at) => ({
      task,
      verified_by: verifier,
      evidence: [
        { evidence_id: task.replaceAll('_', '-'), description: evidence },
        ...(at === tasks.length - 1 ? goalEvidence(goals) : []),
      ],
    })),
    escalation: ['Technical questions go to the planner.', 'Requirements go to the user.'],
  }),
  instructions: ({ goal }) => ({
    tasks: tasks.map(({ task, title }) => ({
      task,
      instructions: `## Objective\n${title} for ${quote(goal, 400)}.\n\n## Context\nThis is a rehearsal.\n\n## Steps\n1. Do it.\n\n## Out of scope\nAll else.`,
    })),
  }),
  design_change: changeDesign,
  research: ({ subject, pages }) => ({
    technology: subject,
    practices: ['Begin with the result.'],
    failure_patterns: ['A long text without headings.'],
    sources:
      pages.length === 0
        ? [{ title: 'Rehearsal: nothing was looked up', url: null }]
        : pages.map((url) => ({ title: 'Rehearsed page', url })),
  }),
  consultation: (request) => ({
    risks: idsIn(request)
      .slice(0, 1)
      .map(({ id }) => ({
        assumption: 'There are facts to be found for the goal.',
        likelihood: 'medium',
        impact: 'high',
        reason: 'Rehearsal: nothing was looked up.',
        task_ids: [id],
      })),
  }),
  poc_recommendation: recommendProofs,
  poc_integration: placeProofs,
  best_practices: (request) => ({
    tasks: idsIn(request)
      .slice(0, 1)
      .map(({ id }) => ({ task_id: id, practices: ['Begin with the result.'] })),
  }),
  design_review: review,
  ...judgeRules,
};

function stageOf(request: MessagesRequest): string | undefined {
  const first = textIn(request.messages[0]?.blocks ?? []);
  return /^<request kind="design" stage="([a-z_]+)">/u.exec(first)?.[1];
}

/** Returns true for a request of a design: each of its stages is offered only what it may call. */
export function isDesignStage(request: MessagesRequest): boolean {
  return stageOf(request) !== undefined;
}

/** Begin of a request to answer findings: the plan has the user's change already. */
const repair = /^<request [^>]*>\n(?:Answer each finding|The plan has your last change already)/u;

/** Plays a stage of a design; null when the request is of none. */
export function answerDesign(request: MessagesRequest, prompt: Prompt): JsonObject | null {
  const first = textIn(request.messages[0]?.blocks ?? []);
  const stage = stageOf(request);
  const rule = stage === undefined ? undefined : rules[stage];
  if (rule === undefined) return null;
  const blocks = firstOfEach(listBlocks(first));
  const plan = jsonBlock(blocks, 'plan');
  return rule({
    goal: prompt.goal,
    prompt,
    materials: objectsOf(jsonBlock(blocks, 'materials')),
    tasks: objectsOf(jsonBlock(blocks, 'plan_tasks')),
    roster: isObject(plan) ? objectsOf(plan['agents']) : [],
    findings: objectsOf(jsonBlock(blocks, 'findings')),
    goals: objectsOf(jsonBlock(blocks, 'goal_criteria')),
    subject: textOf(jsonBlock(blocks, 'subject')),
    pages: pagesIn(request),
    change: repair.test(first) ? '' : (blocks.get('requested_change') ?? ''),
    works: objectsOf(jsonBlock(blocks, 'work')),
  });
}
