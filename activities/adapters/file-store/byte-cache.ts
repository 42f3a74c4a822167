/** Keeps the most recently used values, up to a total size. */
export interface ByteCache {
  get(key: string): Uint8Array | undefined;
  /** Takes over `bytes`, which nobody may change from then on. A value larger than the whole cache is not kept. */
  set(key: string, bytes: Uint8Array): void;
}

/** @param maxBytes total size of the values; 0 keeps nothing. */
export function createByteCache(maxBytes: number): ByteCache {
  // A Map remembers the order of insertion: what is used moves to its end, what is first goes first.
  const entries = new Map<string, Uint8Array>();
  let size = 0;
  const remove = (key: string): void => {
    size -= entries.get(key)?.byteLength ?? 0;
    entries.delete(key);
  };
  return {
    get: (key) => {
      const bytes = entries.get(key);
      if (bytes !== undefined) {
        entries.delete(key);
        entries.set(key, bytes);
      }
      return bytes;
    },
    set: (key, bytes) => {
      remove(key);
      if (bytes.byteLength > maxBytes) return;
      entries.set(key, bytes);
      size += bytes.byteLength;
      for (const oldest of entries.keys()) {
        if (size <= maxBytes) break;
        remove(oldest);
      }
    },
  };
}
