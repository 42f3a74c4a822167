/**
 * Reads messages that our workflows send each other, and that people may imitate by hand.
 *
 * Invariants:
 *   WM1. No payload throws, whatever its shape.
 *   WM2. A payload that no workflow of ours sends gives null; one of ours is returned with its known fields.
 */
import type { BudgetGrant, BudgetRequest, Reservation, Spending } from '../../contracts/budget.ts';
import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { DesignProgress } from '../../contracts/design-run.ts';
import type { DesignMaterial } from '../../contracts/design.ts';
import type {
  DeliveredAnswer,
  Delivery,
  NewsAnswer,
  NewsDelivery,
  NewsInstruction,
  NewsItem,
  PlannedDelegation,
  WaveProgress,
} from '../../contracts/messages.ts';
import { designStageNames } from '../../contracts/names.ts';
import { readUsage } from '../usage/add-usage.ts';
import { isRecord } from '../json.ts';
import { cutText } from '../text/cut-text.ts';
import type { ModeChoice } from '../../contracts/limits.ts';
import type { PlannedExecutor } from '../../contracts/delegation.ts';

/**
 * Readers of messages from the wire, where workflow code may not load zod. A reader never throws, and returns undefined
 * for a value that does not fit.
 */
type Reader<T> = (value: unknown) => T | undefined;

/** A field that is left out when it is missing or does not fit. */
interface OptionalField<T> {
  readonly optional: Reader<T>;
}

export function optional<T>(reader: Reader<T>): OptionalField<T> {
  return { optional: reader };
}

/** A reader for each field of `T`, so that a field that is added to a contract does not compile until it is read. */
type FieldsOf<T> = {
  readonly [K in keyof T]-?: Partial<Pick<T, K>> extends Pick<T, K>
    ? OptionalField<Exclude<T[K], undefined>>
    : Reader<T[K]>;
};

/** Reads an object and drops the fields that it does not know. */
export function object<T extends object>(fields: FieldsOf<T>): Reader<T> {
  const all = Object.entries<Reader<unknown> | OptionalField<unknown>>(fields);
  const isWhole = (read: object): read is T =>
    all.every(([name, field]) => typeof field !== 'function' || name in read);
  return (value) => {
    if (!isRecord(value)) return undefined;
    const read = Object.fromEntries(
      all
        .map(([name, field]) => {
          const reader = typeof field === 'function' ? field : field.optional;
          return [name, reader(value[name])] as const;
        })
        .filter(([, found]) => found !== undefined),
    );
    return isWhole(read) ? read : undefined;
  };
}

/** Reads an object by the reader that its field `name` selects. */
export function variant<Name extends string, T extends Readonly<Record<Name, string>>>(
  name: Name,
  readers: { readonly [K in T[Name]]: Reader<Extract<T, Readonly<Record<Name, K>>>> },
): Reader<T> {
  const byName = new Map(Object.entries<Reader<T>>(readers));
  return (value) => {
    const word = isRecord(value) ? value[name] : undefined;
    return typeof word === 'string' ? byName.get(word)?.(value) : undefined;
  };
}

/** @param lengthMax A longer list does not fit. */
export function list<T>(reader: Reader<T>, lengthMax = Infinity): Reader<T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length > lengthMax) return undefined;
    const read = value.map(reader).filter((one) => one !== undefined);
    return read.length === value.length ? read : undefined;
  };
}

export function nullable<T>(reader: Reader<T>): Reader<T | null> {
  return (value) => (value === null ? null : reader(value));
}

/** Reads null out of everything that does not fit. */
export function orNull<T>(reader: Reader<T>): Reader<T | null> {
  return (value) => reader(value) ?? null;
}

export function literal<const T extends string | boolean>(expected: T): Reader<T> {
  return (value) => (value === expected ? expected : undefined);
}

/** Reads a word of the union `T`: a word that is added to a contract does not compile until it is listed. */
export function wordOf<T extends string>(words: Readonly<Record<NoInfer<T>, true>>): Reader<T> {
  const isWord = (value: unknown): value is T =>
    typeof value === 'string' && Object.hasOwn(words, value);
  return (value) => (isWord(value) ? value : undefined);
}

export const text: Reader<string> = (value) => (typeof value === 'string' ? value : undefined);

export function cutTo(charsMax: number): Reader<string> {
  return (value) => (typeof value === 'string' ? cutText(value, charsMax) : undefined);
}

/** Reads a text that is neither empty nor longer. */
export function textUpTo(charsMax: number): Reader<string> {
  return (value) =>
    typeof value === 'string' && value !== '' && value.length <= charsMax ? value : undefined;
}

/** Reads a SHA-256: 64 lower-case hex digits. */
export const hash: Reader<string> = (value) =>
  typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? value : undefined;

const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : undefined);

/** Reads an integer that is at least `min`. */
export function integer(min: number): Reader<number> {
  return (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= min ? value : undefined;
}

/** Reads a number that is finite and not negative. */
const amount: Reader<number> = (value) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Reads an id. Ids on the wire are short paths, so a longer one is not ours. */
export const idText = textUpTo(1_000);

export const spending = object<Spending>({ calls: amount, tokens: amount, cost_micro_usd: amount });

export const requestFields = {
  request_id: text,
  needs: spending,
  spent: spending,
  worked_ms: amount,
  reserved: optional(spending),
} as const;

const budgetGrant = object<BudgetGrant>({
  request_id: text,
  reason: text,
  reservation: nullable(
    object<Reservation>({
      calls: nullable(amount),
      tokens: nullable(amount),
      cost_micro_usd: nullable(amount),
      until: nullable(amount),
    }),
  ),
});

const executor = variant<'kind', PlannedExecutor>('kind', {
  agent: object({ kind: literal('agent') }),
  triad: object({
    kind: literal('triad'),
    type: wordOf({ hierarchical: true, dialectic: true, consensus: true }),
  }),
  team: object({ kind: literal('team'), team_id: nullable(text) }),
});

const waveProgress = object<WaveProgress>({
  wave: integer(1),
  plan_ref: hash,
  summary: text,
  delegations: list(
    object<PlannedDelegation>({
      delegation_id: text,
      agent_id: text,
      title: text,
      depends_on: list(text),
      executor,
      rule_of_two: optional(text),
    }),
  ),
  criterion_ids: list(text),
  usage: (value) => readUsage(value) ?? undefined,
  mode: optional(
    object<ModeChoice>({
      mode: (value) => (['direct', 'designed'] as const).find((name) => name === value),
      reasons: list(text),
    }),
  ),
});

const newsItem = variant<'type', NewsItem>('type', {
  answer: object<NewsAnswer>({
    news_id: integer(1),
    type: literal('answer'),
    question_id: text,
    text,
    answer: text,
    answer_ref: nullable(text),
    answered_by: text,
    delegation_id: nullable(text),
    changed: flag,
    contradicts: optional(text),
  }),
  instruction: object<NewsInstruction>({
    news_id: integer(1),
    type: literal('instruction'),
    instruction: text,
    criteria_waived: list(text),
  }),
});

const delivery = object<Delivery>({
  escalation_id: text,
  answers: list(
    object<DeliveredAnswer>({
      question_id: text,
      text,
      answer: nullable(text),
      answer_ref: nullable(text),
      answered_by: text,
      loop: flag,
      is_last: optional((value) => (value === true ? value : undefined)),
      note_id: optional(text),
    }),
  ),
  news: optional(list(newsItem)),
});

const designProgress = object<DesignProgress>({
  status: literal('designing'),
  approved_by: nullable(text),
  materials: list(
    object<DesignMaterial>({
      stage: (value) => designStageNames.find((name) => name === value),
      subject: nullable(text),
      ref: hash,
    }),
  ),
  plan_refs: list(hash),
  findings: list(object<PlanFinding>({ rule: text, path: text, message: text, cure: text })),
  usage: (value) => readUsage(value) ?? undefined,
});

/** Returns a reader that gives null for what does not fit. */
export const readOrNull =
  <T>(reader: Reader<T>) =>
  (payload: unknown): T | null =>
    reader(payload) ?? null;

export const checkProgress = readOrNull(waveProgress);
/** Reads the progress that a design reports to its run. */
export const checkDesigned = readOrNull(designProgress);

/** Reads the answers that a parent delivers to the child that asked. */
export const checkDelivery = readOrNull(delivery);
export const checkNews = readOrNull(object<NewsDelivery>({ news: list(newsItem) }));
export const checkBudgetRequest = readOrNull(object<BudgetRequest>(requestFields));
export const checkBudgetGrant = readOrNull(budgetGrant);
