import type { ArtifactStore } from '../ports/artifact-store.ts';

/** Keeps the most recently used values, up to a total weight. */
export interface LruCache<V> {
  /** Returns a value and makes it the most recently used one. */
  get(key: string): V | undefined;
  has(key: string): boolean;
  /**
   * Takes ownership of `value`: the caller must not change it any more. A value heavier than the whole cache is not
   * kept.
   */
  set(key: string, value: V): void;
}

/**
 * @param max Total weight of the values; 0 keeps nothing.
 * @param weigh Returns the weight of a value. Default: 1 for each, so that `max` is their number.
 */
export function createLruCache<V>(max: number, weigh: (value: V) => number = () => 1): LruCache<V> {
  // A Map keeps the order of insertion: a used value moves to the end, and the first one is dropped first.
  const entries = new Map<string, V>();
  let weight = 0;
  const remove = (key: string): void => {
    const value = entries.get(key);
    if (value === undefined) return;
    weight -= weigh(value);
    entries.delete(key);
  };
  return {
    get: (key) => {
      const value = entries.get(key);
      if (value !== undefined) {
        entries.delete(key);
        entries.set(key, value);
      }
      return value;
    },
    has: (key) => entries.has(key),
    set: (key, value) => {
      remove(key);
      if (weigh(value) > max) return;
      entries.set(key, value);
      weight += weigh(value);
      for (const oldest of entries.keys()) {
        if (weight <= max) break;
        remove(oldest);
      }
    },
  };
}

/** Creates a function that returns the cache of a store, with at most `max` values. */
export function createStoreCaches<V>(max: number): (store: ArtifactStore) => LruCache<V> {
  const caches = new WeakMap<ArtifactStore, LruCache<V>>();
  return (store) => {
    const cache = caches.get(store) ?? createLruCache<V>(max);
    caches.set(store, cache);
    return cache;
  };
}
