import type { Shape } from '../script.ts';
import { isObject, textOf } from '../text.ts';
import type { JsonObject } from '../text.ts';
import { answerDelegation } from './agent-rule.ts';
import type { SharedWork } from './agent-rule.ts';
import { decideWave } from './decision-rule.ts';
import { failsAlways, failsOnce, mendedLine } from './rehearsal-marks.ts';
import { planWave } from './plan-rule.ts';
import { reportRepair } from './repair-rule.ts';
import type { Prompt } from './prompt.ts';

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

/** Verifies like a verifier: everything passes, but a task with a mark fails as often as that says. */
function verifyOutput(prompt: Prompt): JsonObject {
  const task = textOf(prompt.delegation['task_description']);
  const isMended = prompt.workText.includes(mendedLine);
  const fails = failsAlways(task) || (failsOnce(task) && !isMended);
  return {
    verdict: fails ? 'fail' : 'pass',
    missing_evidence: fails ? ['Rehearsal: a mark in the task lets this verification fail.'] : [],
    reviewed_notes: [],
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
