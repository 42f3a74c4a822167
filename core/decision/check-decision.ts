/**
 * Checks the planner's decision on a wave beyond its shape (seed 004 §7).
 *
 * Invariants:
 *   DE1. OK means that no criterion is open and no reason against it is given. Reopened criteria count as open; those
 *        that the user's answers settle do not.
 *   DE2. NOT_OK gives reasons, and a criterion is open or reopened.
 *   DE3. Only met criteria are reopened.
 *   DE4. needs_user_input and user_questions agree, and the questions can be put to a person.
 *   DE5. OK names an answer. A named answer exists: a delegation of the run that completed, or a file whose writing is
 *        confirmed.
 *   DE6. All faults are reported at once, each with path, reason and "Try: …".
 */
import type { OutputFault } from '../../contracts/output-fault.ts';
import {
  openCriteria,
  reopenCriteria,
  checkByAnswers,
  settleByAnswers,
} from '../criteria/criteria.ts';
import { capFaults, listNames } from '../text/list-names.ts';
import { checkUserQuestions } from '../questions/check-asked-questions.ts';
import { cutText } from '../text/cut-text.ts';
import type { AnswersContext } from '../criteria/criteria.ts';
import type { Conflict, ConflictSide } from '../pool/find-conflicts.ts';
import { normaliseKey, normaliseValue } from '../pool/admit-facts.ts';
import type { NamedAnswer, WaveDecisionOutline } from '../../contracts/wave-plan.ts';
import type { Fact } from '../../contracts/agent-output.ts';
import type { CriterionState } from '../../contracts/criterion.ts';

/**
 * @param context Its criteria are those after the wave's outcomes.
 * @returns every fault at once; empty when the decision holds.
 */
export function checkDecision(
  decision: WaveDecisionOutline,
  context: AnswersContext,
): OutputFault[] {
  return capFaults([
    ...checkReopened(decision, context.criteria),
    ...checkStatus(decision, context.criteria),
    ...checkByAnswers(decision, context),
    ...checkUserQuestions(decision),
  ]);
}

function checkReopened(
  decision: WaveDecisionOutline,
  criteria: readonly CriterionState[],
): OutputFault[] {
  const states = new Map(criteria.map((c) => [c.criterion_id, c.state]));
  const met = criteria.filter((c) => c.state === 'met').map((c) => c.criterion_id);
  return decision.criteria_reopened.flatMap(({ criterion_id: id }, i) => {
    const state = states.get(id);
    if (state === 'met') return [];
    return [
      {
        path: `criteria_reopened[${i}].criterion_id`,
        reason:
          state === undefined
            ? `"${cutText(id, 60)}" is no criterion of this run`
            : `"${id}" is ${state}, not met, so it cannot be reopened`,
        hint: `Try: leave it out. Met criteria: ${listNames(met)}`,
      },
    ];
  });
}

function checkStatus(
  decision: WaveDecisionOutline,
  criteria: readonly CriterionState[],
): OutputFault[] {
  const { io_status: status, not_ok_reasons: reasons } = decision.planner_decision;
  const reopened = decision.criteria_reopened.map((c) => c.criterion_id);
  const open = openCriteria(settleByAnswers(reopenCriteria(criteria, reopened), decision));
  const given = reasons.filter((reason) => reason.trim() !== '').length;
  return status === 'OK' ? checkOk(decision, open, given) : checkNotOk(open, given);
}

function checkOk(
  { has_answer }: WaveDecisionOutline,
  open: readonly string[],
  reasons: number,
): OutputFault[] {
  const faults: OutputFault[] = [];
  if (open.length > 0) {
    faults.push({
      path: 'planner_decision.io_status',
      reason: `io_status is "OK" but these criteria are open: ${listNames(open)}`,
      hint: 'Try: "NOT_OK" with a reason for each open criterion',
    });
  }
  if (reasons > 0) {
    faults.push({
      path: 'planner_decision.not_ok_reasons',
      reason: 'io_status is "OK" but there are reasons against it',
      hint: 'Try: an empty list, or io_status "NOT_OK"',
    });
  }
  if (!has_answer) {
    faults.push({
      path: 'answer',
      reason: 'io_status is "OK" but answer is null: the user would get nothing',
      hint: 'Try: {"kind":"delegation","value":"<delegation_id>"} with the delegation whose result the user asked for',
    });
  }
  return faults;
}

function checkNotOk(open: readonly string[], reasons: number): OutputFault[] {
  const faults: OutputFault[] = [];
  if (reasons === 0) {
    faults.push({
      path: 'planner_decision.not_ok_reasons',
      reason: 'io_status is "NOT_OK" but there is no reason',
      hint: 'Try: one sentence for each open criterion',
    });
  }
  if (open.length === 0) {
    faults.push({
      path: 'planner_decision.io_status',
      reason: 'io_status is "NOT_OK" but no criterion is open or reopened',
      hint: 'Try: "OK", or reopen each criterion whose evidence does not carry it',
    });
  }
  return faults;
}

/** Names that an answer may use. */
export interface Answerable {
  /** delegation_ids of the run that completed with an output, in the order of the waves. */
  readonly delegations: readonly string[];
  /** Paths of files whose writing is confirmed. */
  readonly files: readonly string[];
}

/**
 * @returns the fault of an answer whose name is unknown. Empty when the name exists, the answer is a text, or there is
 * none.
 */
export function checkNamedAnswer(
  answer: NamedAnswer | null,
  { delegations, files }: Answerable,
): OutputFault[] {
  if (answer === null || answer.kind === 'text') return [];
  const { kind, value } = answer;
  const known = kind === 'delegation' ? delegations : files;
  const named = kind === 'delegation' ? [value] : listAnswerPaths(value);
  const missing = named.length === 0 ? value : named.find((one) => !known.includes(one));
  if (missing === undefined) return [];
  const what =
    kind === 'delegation'
      ? 'is no delegation of this run that completed'
      : 'is no file that this run is known to have written';
  const hint =
    known.length === 0
      ? 'Try: {"kind":"text","value":"…"} with the answer itself, or null with io_status "NOT_OK"'
      : `Try: one of ${listNames(known.slice(-namedMax))}`;
  return [{ path: 'answer.value', reason: `"${cutText(missing, 80)}" ${what}`, hint }];
}

/** Returns the paths that an answer of kind `file` names, one a line. */
export function listAnswerPaths(value: string): string[] {
  return value
    .split('\n')
    .map((path) => path.trim())
    .filter((path) => path !== '');
}

/** Number of newest delegations or files that a fault lists. */
const namedMax = 20;

/**
 * Finds lines of a text that state a superseded value. Only exact lines `key: value` count; nothing is guessed.
 *
 * Invariants:
 *   LL1. A line is found exactly when its key is in the pool or in a conflict, and its value lost there and stands
 *        nowhere under that key. Marks of lists and of emphasis don't count.
 */

interface Losses {
  readonly pool: readonly Fact[];
  readonly resolved: readonly { readonly conflict: Conflict; readonly winner: ConflictSide }[];
}

/** Normalised values of one key. */
interface Values {
  readonly lost: Set<string>;
  readonly stand: Set<string>;
}

export function findLostLines(text: string, losses: Losses): OutputFault[] {
  const byKey = collectValues(losses);
  if (byKey.size === 0) return [];
  return text.split('\n').flatMap((line, index) => {
    const value = readStatements(line).find(([key, said]) => {
      const values = byKey.get(key);
      return values !== undefined && values.lost.has(said) && !values.stand.has(said);
    });
    if (value === undefined) return [];
    const [key] = value;
    return [
      {
        path: 'wave_compact',
        reason: `line ${index + 1} says "${cutText(line.trim(), 200)}", which is superseded`,
        hint: `Try: say what stands for "${cutText(key, 80)}" now, or leave the line out`,
      },
    ];
  });
}

function collectValues({ pool, resolved }: Losses): ReadonlyMap<string, Values> {
  const byKey = new Map<string, Values>();
  const valuesOf = (key: string): Values => {
    const values = byKey.get(key) ?? { lost: new Set(), stand: new Set() };
    byKey.set(key, values);
    return values;
  };
  const decided = new Set(resolved.map(({ conflict }) => conflict.key));
  for (const { key, value, superseded_by } of pool) {
    if (key === null || value === null) continue;
    const { lost, stand } = valuesOf(key);
    (superseded_by !== null || decided.has(key) ? lost : stand).add(normaliseValue(value));
  }
  for (const { conflict, winner } of resolved) {
    const { lost, stand } = valuesOf(conflict.key);
    for (const { value } of conflict.sides) lost.add(normaliseValue(value));
    stand.add(normaliseValue(winner.value));
  }
  return byKey;
}

/** Splits the line into key and value at each of its colons, because a key may contain one. */
function readStatements(line: string): [key: string, value: string][] {
  const plain = line.replace(/[*`]/g, '').replace(/^\s*\d+[.)]\s+/, '');
  return [...plain.matchAll(/:/g)].flatMap(({ index }): [string, string][] => {
    const key = normaliseKey(plain.slice(0, index));
    const said = plain.slice(index + 1);
    if (key === null) return [];
    return [said, said.trimEnd().replace(/[.,;]$/, '')].map((one) => [key, normaliseValue(one)]);
  });
}
