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
   * @returns false when another writer was first. Then the value is theirs.
   * @throws {StoreUnavailable} when the value can't be written.
   */
  replace(name: string, value: unknown, after: number): Promise<boolean>;

  /** Lists all names. @throws {StoreUnavailable} */
  list(): Promise<readonly string[]>;
}
