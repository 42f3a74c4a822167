import type { PageTurn, PageWork, RunPage } from '../../contracts/run-page.ts';
import type { Question } from '../../contracts/question.ts';
import { noUsage } from '../../core/usage/add-usage.ts';

const startedAt = 1_700_000_000;

const usage = {
  ...noUsage,
  calls: 1,
  input_tokens: 1_200,
  output_tokens: 90,
  cost_micro_usd: 4_000,
};

/** A text that is long enough to be shared, and equal in all prompts of the wave. */
const sharedPrompt = `Shared by the whole wave. ${'The goal, the rules and what is known. '.repeat(40)}`;

function turn(at: number, parts: Partial<PageTurn> = {}): PageTurn {
  return {
    begun_at: startedAt * 1_000 + at,
    ended_at: startedAt * 1_000 + at + 800,
    attempt: 1,
    model: 'a model',
    request_id: 'a request',
    usage,
    reply_type: 'tools',
    sent: [],
    reply: [],
    ...parts,
  };
}

function work(n: number, parts: Partial<PageWork> = {}): PageWork {
  const at = 1_000 + n * 50;
  return {
    work_id: `task-${n}`,
    kind: 'agent',
    agent_id: 'researcher',
    title: `Task number ${n}`,
    state: 'completed',
    reason: 'a reason',
    task: `What is to be done in task ${n}`,
    criteria: [{ criterion_id: `c${n}`, description: 'It is done' }],
    inputs: ['goal'],
    depends_on: n === 1 ? [] : ['task-1'],
    output: {
      detailed_md: `The whole result of ${n}`,
      compact_md: `The short result of ${n}`,
      status: 'completed',
      blocking_questions: [],
      optional_questions: [question('optional')],
      missing_info_requests: [],
      assumptions_made: [{ statement: 'assumed', confidence: 'low' }],
      facts: [{ key: 'a key', value: 'a value', statement: 'stated', confidence: 'high' }],
      effects_claimed: ['claimed'],
      coverage: {
        criteria_met: [
          { criterion_id: `c${n}`, evidence: 'said', where: { kind: 'heading', value: 'there' } },
        ],
        criteria_unmet: [],
      },
    },
    record: null,
    diff: 'diff --git\n+added\n-removed',
    usage,
    conversations: [
      {
        agent_id: 'researcher',
        member: null,
        stage: 'delegation',
        system: ['the system text'],
        turns: [
          turn(at, {
            sent: [
              { type: 'text', text: sharedPrompt },
              { type: 'text', text: `The packet of ${n}` },
            ],
            reply: [
              { type: 'text', text: 'words before' },
              { type: 'tool_use', id: `call-${n}`, name: 'load_detail', input: { detail: 'x' } },
              { type: 'opaque', raw: {} },
            ],
          }),
          turn(at + 1_000, {
            reply_type: 'output',
            sent: [
              { type: 'tool_result', tool_use_id: `call-${n}`, content: 'found', is_error: false },
            ],
            reply: [{ type: 'text', text: 'the reply' }],
          }),
        ],
      },
    ],
    parts: [],
    ...parts,
  };
}

function question(id: string): Question {
  return {
    question_id: id,
    kind: 'blocking',
    wave: 1,
    delegation_id: 'task-1',
    agent_id: 'researcher',
    also_asked_by: [],
    text: 'Which one?',
    why_it_matters: 'It matters',
    priority: 'critical',
    expected_answer_format: 'text',
    choices: [],
    default_answer: null,
    answer_schema: null,
    deadline_seconds: null,
    remind_seconds: 60,
    reminded: 0,
    escalate_to: null,
    escalated_at: null,
    asked_at: startedAt + 2,
  };
}

/** A page with something of everything, and as many delegations as are wanted. */
export function samplePage(delegations = 2, parts: Partial<RunPage> = {}): RunPage {
  const phase = work(0, {
    work_id: 'task-1/negotiate',
    kind: 'phase',
    title: 'negotiate',
    output: null,
    record: 'Who claimed what',
    conversations: work(0).conversations.map((one) => ({ ...one, member: 'critic' })),
  });
  const all = Array.from({ length: delegations }, (_, at) => work(at + 1));
  const [first = work(1), ...rest] = all;
  return {
    run_id: 'sample',
    goal: 'The whole goal',
    goal_title: 'The goal',
    constraints: ['a constraint'],
    instructions: ['an instruction'],
    started_at: startedAt,
    updated_at: startedAt + 60,
    phase: 'waiting_for_user',
    status: null,
    usage,
    told: ['Taken over from `another`: everything before wave 2.'],
    answer: { text: 'The answer', note: 'a note' },
    criteria: [
      {
        criterion_id: 'c1',
        description: 'It is done',
        state: 'met',
        delegation_id: 'task-1',
        note: 'said',
      },
      {
        criterion_id: 'c9',
        description: 'You agree',
        state: 'met',
        delegation_id: null,
        question_id: 'q1',
        note: '',
      },
    ],
    rejected_answers: [],
    open_questions: [
      { ...question('q2'), shown: [] },
      {
        ...question('q3'),
        kind: 'approval',
        expected_answer_format: 'choice',
        choices: ['approve', 'deny'],
        default_answer: 'deny',
        shown: [{ title: 'All of it', text: '{"path":"a","content":"b"}' }],
      },
    ],
    answered_questions: [
      {
        question_id: 'q1',
        text: 'Do you agree?',
        delegation_id: null,
        answer: 'yes',
        answered_by: 'user',
        source_refs: [],
        answered_at: startedAt + 30,
        answer_ref: null,
        question: question('q1'),
      },
    ],
    waves: [
      {
        wave: 1,
        status: 'running',
        summary: 'a summary',
        decision: null,
        usage,
        conversations: [
          { agent_id: 'planner', member: null, stage: 'plan', system: [], turns: [turn(100)] },
        ],
        work: [{ ...first, kind: 'triad', parts: [phase] }, ...rest],
      },
    ],
    design: {
      status: 'approved',
      plan: 'the plan',
      usage,
      conversations: [
        { agent_id: 'designer', member: null, stage: 'brief', system: [], turns: [turn(0)] },
      ],
    },
    effects: [
      {
        effect_id: 'task-1/effect-1',
        wave: 1,
        delegation_id: 'task-1',
        agent_id: 'researcher',
        tool: 'write_file',
        arguments_ref: 'a'.repeat(64),
        state: 'confirmed',
        target: 'a file',
        receipt: null,
        reason: 'a reason',
        approval_question_id: null,
        updated_at: startedAt + 40,
      },
    ],
    facts: [
      {
        fact_id: 'f1',
        key: 'a key',
        value: 'a value',
        statement: 'stated',
        source_refs: ['wave-001/task-1'],
        confidence: 'high',
        is_assumption: false,
        origin: 'agent',
        superseded_by: null,
        recorded_at: startedAt,
      },
    ],
    diff: 'diff --git\n+added',
    ...parts,
  };
}

/** Keys whose values the engine alone writes. */
const enums = new Set(['type', 'kind', 'expected_answer_format', 'stage', 'tool_use_id', 'id']);

/** Puts a text into every field of a page that holds one. */
export function plant(page: RunPage, text: string): RunPage {
  const put = (key: string, value: unknown): unknown =>
    typeof value === 'string' && key !== '' && !enums.has(key) ? text : value;
  return JSON.parse(JSON.stringify(page, put));
}
