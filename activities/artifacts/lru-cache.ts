/** Keeps the most recently used values, up to a total size. */
export interface ByteCache {
  get(key: string): Uint8Array | undefined;
  /**
   * Takes ownership of `bytes`: the caller must not change them any more. A value larger than the whole cache is not
   * kept.
   */
  set(key: string, bytes: Uint8Array): void;
}

/** @param maxBytes Total size of the values; 0 keeps nothing. */
export function createByteCache(maxBytes: number): ByteCache {
  // A Map keeps the order of insertion: a used value moves to the end, and the first one is dropped first.
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
