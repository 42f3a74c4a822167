/** Returns the fields that have a value. */
export function definedOnly<T>(record: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(record).filter((field): field is [string, T] => field[1] !== undefined),
  );
}
