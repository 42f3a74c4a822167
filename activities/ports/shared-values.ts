/** A small value, with the number of its writes. */
export interface SharedValue {
  /** JSON. Undefined when there was never one. */
  readonly value: unknown;
  /** 0 before the first write, one more with each write. */
  readonly version: number;
}

/** Small values that all workers of a store change together, such as budgets of tenants. */
export interface SharedValues {
  /** @throws {StoreUnavailable} when the value can't be read, or is damaged. */
  read(name: string): Promise<SharedValue>;

  /**
   * Replaces a value, if nobody has written since version `after` was read. When the promise resolves, it survives a power cut.
   *
   * @returns false when another writer was first. Then the value is theirs. A database may also return it when its connection
   * was cut and another writer has built on this value.
   * @throws {StoreUnavailable} when the value can't be written.
   */
  replace(name: string, value: unknown, after: number): Promise<boolean>;

  /** Lists all values that there are, damaged ones first, then by name. @throws {StoreUnavailable} */
  list(): Promise<readonly ListedShared[]>;
}

export interface ListedShared {
  /** Null when the value is damaged. */
  readonly name: string | null;
  /** Folder, or entry of the database. */
  readonly place: string;
}

/** Says what to do about a damaged value. */
export const sharedCure =
  'restore it from a backup, or remove it: then the budget of a tenant has to be set again, and a wait that a model API asked for is forgotten';

/** Returns true for a value that nobody needs once it has not changed for a day: a removed one, or a wait of minutes. */
export function isOutdated(name: string, value: unknown): boolean {
  return value === null || name.startsWith('pace/');
}

export function sortListed(listed: readonly ListedShared[]): readonly ListedShared[] {
  return listed.toSorted((a, b) => {
    const [one, other] = [a.name ?? '', b.name ?? ''];
    return one < other ? -1 : Number(one > other);
  });
}
