import { cutText, isObject, objectsOf, quote, textOf } from '../text.ts';
import type { JsonObject } from '../text.ts';
import type { Prompt } from './prompt.ts';

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
export function decideWave(prompt: Prompt): JsonObject {
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
