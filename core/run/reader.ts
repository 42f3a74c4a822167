import { isRecord } from '../is-record.ts';
import { cutText } from '../text/cut-text.ts';

/**
 * Readers of messages from the wire, where workflow code may not load zod. A reader never throws, and returns undefined
 * for a value that does not fit.
 */
export type Reader<T> = (value: unknown) => T | undefined;

/** A field that is left out when it is missing or does not fit. */
export interface OptionalField<T> {
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
  return (value) => (isRecord(value) ? byName.get(String(value[name]))?.(value) : undefined);
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

/** Reads a text and cuts it. */
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

export const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : undefined);

/** Reads an integer that is at least `min`. */
export function integer(min: number): Reader<number> {
  return (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= min ? value : undefined;
}

/** Reads a number that is finite and not negative. */
export const amount: Reader<number> = (value) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
