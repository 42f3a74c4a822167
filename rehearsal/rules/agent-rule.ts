import { cutText, objectsOf, quote, textOf, type JsonObject } from '../messages-api.ts';
import type { Prompt } from './prompt.ts';
import {
  asksForQuestion,
  audienceQuestion,
  isAudienceQuestion,
  mendedLine,
  slipMark,
} from './rehearsal-marks.ts';

interface Criterion {
  readonly id: string;
  readonly description: string;
}

function criteriaOf(delegation: JsonObject): readonly Criterion[] {
  return objectsOf(delegation['acceptance_criteria']).map((criterion) => ({
    id: textOf(criterion['criterion_id']),
    description: textOf(criterion['description']),
  }));
}

/** Finds the answer to this agent's question, whichever agent asked it first; undefined while there is none. */
function findAudience(prompt: Prompt): string | undefined {
  const own = textOf(prompt.delegation['delegation_id']);
  const answers = prompt.answers.filter(
    (item) => isAudienceQuestion(item.text) || (own !== '' && item.delegation_id === own),
  );
  return answers.at(-1)?.answer;
}

const emptyLists = {
  optional_questions: [],
  missing_info_requests: [],
  facts: [],
  effects_claimed: [],
} as const;

function askFirst(prompt: Prompt, criteria: readonly Criterion[]): JsonObject {
  const question = audienceQuestion(prompt.goal);
  return {
    compact_md: `Rehearsal: waiting for an answer. ${question.text}`,
    detailed_md:
      `# Rehearsal: a question before the work\n\n${question.text}\n\n` +
      `Without an answer I would assume: ${question.defaultAnswer}.\n`,
    status: 'blocked',
    blocking_questions: [
      {
        text: question.text,
        why_it_matters: 'The same facts are told differently to different readers.',
        priority: 'critical',
        expected_answer_format: 'choice',
        choices: question.choices,
        default_answer: question.defaultAnswer,
      },
    ],
    ...emptyLists,
    assumptions_made: [],
    coverage: {
      criteria_met: [],
      criteria_unmet: criteria.map((criterion) => ({
        criterion_id: criterion.id,
        reason: 'Waits for the answer of the user.',
      })),
    },
  };
}

/** Returns the sentence that shows a criterion as met; the evidence quotes it word for word. */
function sentenceFor(criterion: Criterion, goal: string): string {
  return `Rehearsed for ${quote(goal)}: ${cutText(criterion.description, 300)}`;
}

const headingOf = (criterion: Criterion, index: number): string => `${index + 1}. ${criterion.id}`;

function writeDetailed(
  prompt: Prompt,
  criteria: readonly Criterion[],
  audience: string | undefined,
  { label, parts, earlier }: SharedWork,
): string {
  const lines = [
    `# Rehearsal: ${cutText(textOf(prompt.delegation['title']) || 'the delegated task', 120)}`,
    '',
    `Goal: ${quote(prompt.goal, 400)}`,
    ...(audience === undefined ? [] : ['', `Written for: ${cutText(audience, 400)}`]),
    ...prompt.toolResults.map((text) => `\nLoaded: ${quote(text, 120)}`),
    ...(earlier === '' ? [] : [`\nEarlier in this thread: ${quote(earlier, 300)}`]),
    ...(label === 'Section' ? [] : parts.map((text) => `\n${label}: ${quote(text, 300)}`)),
    '',
    ...(prompt.isRedone ? [mendedLine, ''] : []),
    'No model was called: a rule of the rehearsal model wrote this text.',
  ];
  for (const [index, criterion] of criteria.entries()) {
    lines.push('', `## ${headingOf(criterion, index)}`, '', sentenceFor(criterion, prompt.goal));
  }
  return `${lines.join('\n')}\n`;
}

/** Work of several members, for the output of a triad or of a team. */
export interface SharedWork {
  readonly label: 'Section' | 'Result';
  /** Sections that are done, or results of tasks. */
  readonly parts: readonly string[];
  /** Maps criterion_id to the reason why it can't be met. */
  readonly unmet: ReadonlyMap<string, string>;
  /** The previous message of a continued thread; empty when there is none. */
  readonly earlier: string;
}

export const ownWork: SharedWork = { label: 'Section', parts: [], unmet: new Map(), earlier: '' };

/** Passes the sections of a triad on whole. A single agent and a leader write all of their output. */
function passOn({ label, parts }: SharedWork): JsonObject {
  return label === 'Section' && parts.length > 0 ? { detailed_from: ['sections'] } : {};
}

/**
 * Answers like an agent, in the shape of an agent output.
 *
 * A task that asks for it is blocked by one choice question until an answer is in the prompt. A task with `slipMark`
 * omits the last criterion that it meets until the prompt returns the output. Everything else completes at once.
 */
export function answerDelegation(prompt: Prompt, shared: SharedWork = ownWork): JsonObject {
  const criteria = criteriaOf(prompt.delegation);
  const task = textOf(prompt.delegation['task_description']);
  const audience = findAudience(prompt);
  // The members have already asked.
  const isLed = shared.label === 'Result' && shared.parts.length > 0;
  if (asksForQuestion(task) && !isLed && audience === undefined) return askFirst(prompt, criteria);
  const slips = task.includes(slipMark) && prompt.repairs === 0;
  const forWhom = audience === undefined ? '' : ` For ${quote(audience)}.`;
  const met = criteria.filter(({ id }) => !shared.unmet.has(id));
  return {
    compact_md:
      `Rehearsal of ${quote(textOf(prompt.delegation['title']) || prompt.goal)}: ` +
      `${met.length} ${met.length === 1 ? 'criterion' : 'criteria'} met by rule.${forWhom}`,
    detailed_md: writeDetailed(prompt, met, audience, shared),
    ...passOn(shared),
    status: 'completed',
    blocking_questions: [],
    ...emptyLists,
    assumptions_made: [
      { statement: 'A rehearsal needs no true facts, only their form.', confidence: 'high' },
    ],
    coverage: {
      criteria_met: (slips ? met.slice(0, -1) : met).map((criterion) => ({
        criterion_id: criterion.id,
        evidence:
          `detailed_md, section “${headingOf(criterion, met.indexOf(criterion))}”: ` +
          `“${sentenceFor(criterion, prompt.goal)}”`,
        where: { kind: 'heading', value: headingOf(criterion, met.indexOf(criterion)) },
      })),
      criteria_unmet: criteria.flatMap(({ id }) => {
        const reason = shared.unmet.get(id);
        return reason === undefined ? [] : [{ criterion_id: id, reason }];
      }),
    },
  };
}
