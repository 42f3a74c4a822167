import { cutText, isObject, objectsOf, quote, textOf, type JsonObject } from '../messages-api.ts';
import type { Shape } from '../script.ts';
import type { Prompt } from './prompt.ts';
import { answerDelegation, type SharedWork } from './agent-rule.ts';
import { failsAlways, failsOnce, mendedLine } from './rehearsal-marks.ts';
import { planWave } from './plan-rule.ts';
import { reportRepair } from './repair-rule.ts';

/** Reads criteria, which are ids or objects that hold one. */
function idsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.map((item: unknown) => textOf(isObject(item) ? item['criterion_id'] : item));
}

/** Returns the open criteria: the prompt's list, or without one the unmet ones of the outcomes. */
function openIdsOf(prompt: Prompt): readonly string[] {
  return prompt.saysOpenCriteria
    ? idsOf(prompt.openCriteria)
    : prompt.outcomes.flatMap((outcome) => idsOf(outcome['criteria_unmet']));
}

function describeOutcome(outcome: JsonObject): string {
  const met = idsOf(outcome['criteria_met']).length;
  const unmet = idsOf(outcome['criteria_unmet']).length;
  const name = `**${textOf(outcome['delegation_id'])}** (${textOf(outcome['status'])})`;
  return `- ${name}: ${met} met, ${unmet} unmet. ${cutText(textOf(outcome['compact_md']), 300)}`;
}

const fold = (side: JsonObject | undefined): string => textOf(side?.['value']).toLowerCase();

/** Lets the first side stand, unless the user is one: then the user's side stands. */
function resolveConflict(conflict: JsonObject): JsonObject {
  const sides = objectsOf(conflict['sides']);
  const winner = sides.findLast((side) => side['origin'] === 'user') ?? sides[0];
  const loser = sides.find((side) => fold(side) !== fold(winner));
  return {
    conflict: textOf(conflict['conflict']),
    resolution: `Rehearsal: ${cutText(textOf(winner?.['source']), 100)} stands by rule.`,
    origin: textOf(winner?.['source']),
    superseded: textOf(loser?.['source']),
  };
}

/** Names the newest result of the wave that is no review; a text when there is none. */
function nameAnswer(prompt: Prompt): JsonObject {
  const completed = prompt.outcomes.filter((outcome) => outcome['status'] === 'completed');
  const last = completed.findLast((one) => one['agent_id'] !== 'reviewer') ?? completed.at(-1);
  if (last !== undefined) return { kind: 'delegation', value: textOf(last['delegation_id']) };
  const value = `Rehearsal: nothing came back, and nothing is open for ${quote(prompt.goal, 200)}.`;
  return { kind: 'text', value };
}

/** Decides like the planner, in the shape of a wave decision: OK exactly when no criterion is open. */
function decideWave(prompt: Prompt): JsonObject {
  const open = openIdsOf(prompt);
  const title = `Rehearsal, wave ${prompt.wave}: ${quote(prompt.goal, 200)}`;
  const state = open.length === 0 ? 'No criterion is open.' : `Open: ${open.join(', ')}.`;
  const outcomes = prompt.outcomes.map(describeOutcome);
  return {
    wave_compact: [`## ${title}`, '', state, '', ...outcomes, ''].join('\n'),
    wave_detailed: [
      `# ${title}`,
      '',
      'A rule of the rehearsal model decided: OK when no criterion is open, else another wave.',
      '',
      '## What came back',
      '',
      ...(outcomes.length > 0 ? outcomes : ['- nothing']),
      '',
      '## What is open',
      '',
      ...(open.length > 0 ? open.map((id) => `- ${id}`) : ['- nothing']),
      '',
    ].join('\n'),
    planner_decision: {
      io_status: open.length === 0 ? 'OK' : 'NOT_OK',
      not_ok_reasons: open.slice(0, 50).map((id) => `${cutText(id, 200)} is still open.`),
      conflicts_resolved: prompt.conflicts.map(resolveConflict),
      next_actions: open.slice(0, 50).map((id) => `Delegate ${cutText(id, 200)} again.`),
    },
    answer: open.length === 0 ? nameAnswer(prompt) : null,
    facts: [],
    criteria_reopened: [],
    needs_user_input: false,
    user_questions: [],
  };
}

/** An output shape of planwave, and its reply. */
interface ShapeRule {
  readonly shape: Shape;
  /** Property names that identify the shape in a schema. */
  readonly marks: readonly string[];
  /** @param shared work of a triad's or a team's members; null for an agent that works alone. */
  readonly answer: (prompt: Prompt, shared: SharedWork | null) => JsonObject;
}

/** planwave's own output shapes. A new one is a row here; without one its replies come from the generator. */
const shapeRules: readonly ShapeRule[] = [
  {
    shape: 'plan',
    marks: ['summary', 'delegations', 'needs_user_input'],
    answer: planWave,
  },
  {
    shape: 'delegation',
    marks: ['compact_md', 'detailed_md', 'status', 'coverage'],
    answer: (prompt, shared) => ({
      ...(shared === null
        ? answerDelegation(prompt)
        : // Results of calls that gave out work are no details that it loaded.
          answerDelegation({ ...prompt, toolResults: [] }, shared)),
      ...reportRepair(prompt),
    }),
  },
  {
    shape: 'review',
    marks: ['reviews'],
    answer: reviewQuestions,
  },
  {
    shape: 'verification',
    marks: ['verdict', 'missing_evidence', 'reviewed_notes'],
    answer: verifyOutput,
  },
  {
    shape: 'grading',
    marks: ['reason', 'score'],
    answer: gradeAnswer,
  },
  {
    shape: 'decision',
    marks: ['wave_compact', 'wave_detailed', 'planner_decision'],
    answer: decideWave,
  },
];

/** Finds the rule of the shape that a JSON schema asks for, by its property names. */
function findRule(schema: JsonObject | null): ShapeRule | undefined {
  const properties = schema === null ? undefined : rootOf(schema)['properties'];
  if (!isObject(properties)) return undefined;
  return shapeRules.find(({ marks }) => marks.every((mark) => mark in properties));
}

/** Recognises planwave's shape that a JSON schema asks for; null for any other schema. */
export function recogniseShape(schema: JsonObject | null): Shape | null {
  return findRule(schema)?.shape ?? null;
}

/** Answers by the rule of the schema's shape; null when the schema is none of planwave's. */
export function answerByRule(
  schema: JsonObject,
  prompt: Prompt,
  shared: SharedWork | null,
): JsonObject | null {
  return findRule(schema)?.answer(prompt, shared) ?? null;
}

/**
 * Verifies like a verifier: everything passes, but a task with a mark fails as often as that says, and so does an output on
 * whose judgement a triad did not agree.
 */
function verifyOutput(prompt: Prompt): JsonObject {
  const task = textOf(prompt.delegation['task_description']);
  const isMended = prompt.workText.includes(mendedLine);
  const fails = failsAlways(task) || (failsOnce(task) && !isMended) || prompt.isDisputed;
  return {
    verdict: fails ? 'fail' : 'pass',
    missing_evidence: fails ? ['Rehearsal: a mark in the task lets this verification fail.'] : [],
    reviewed_notes: prompt.noteIds.map((note_id) => ({ note_id, accepted: true, comment: '' })),
  };
}

/** Grades like a grader: any answer is fine, and none is nothing. */
function gradeAnswer({ workText }: Prompt): JsonObject {
  const score = workText.trim() === '' ? 0 : 1;
  return { reason: 'Rehearsal: a rule looked only whether there is an answer.', score };
}

/** Returns the target of a `$ref` at the root, or the schema itself. */
function rootOf(schema: JsonObject): JsonObject {
  const ref = schema['$ref'];
  const path = typeof ref === 'string' ? /^#\/(\$defs|definitions)\/([^/]+)$/u.exec(ref) : null;
  const definitions = path === null ? undefined : schema[path[1] ?? ''];
  const target = isObject(definitions) ? definitions[path?.[2] ?? ''] : undefined;
  return isObject(target) ? target : schema;
}

/** Words of a question for a solution architect. */
const technical = /technolog|librar|framework|database|protocol|architectur|encrypt/iu;

/**
 * Reviews an agent's questions like the planner: a technical one is for the architect, where there is one; a default is
 * assumed unless the question is critical; all others go to the user.
 */
function reviewQuestions({ questions, hasArchitect }: Prompt): JsonObject {
  return {
    reviews: questions.map((question, index) => {
      if (hasArchitect && technical.test(textOf(question['text']))) {
        return {
          question: index + 1,
          verdict: 'architect',
          answer: null,
          source_refs: [],
          reason: 'A rule of the rehearsal model: what is technical is for the architect.',
        };
      }
      const fallback = textOf(question['default_answer']);
      const isAssumed = fallback !== '' && textOf(question['priority']) !== 'critical';
      return {
        question: index + 1,
        verdict: isAssumed ? 'assumed' : 'needs_user_input',
        answer: isAssumed ? fallback : null,
        source_refs: [],
        reason: isAssumed
          ? 'A rule of the rehearsal model takes the default of the one who asks.'
          : 'A rule of the rehearsal model: what is critical or has no default is for the user.',
      };
    }),
  };
}
