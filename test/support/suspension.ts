import { EventEmitter, once } from 'node:events';

/** A point at which a test holds an operation, as if its worker were suspended there. */
export interface Suspension {
  /** Awaited by the operation when it is there. */
  readonly here: () => Promise<void>;
  /** Resolves when the operation is there. */
  readonly reached: Promise<unknown>;
  /** Lets it go on. Whoever comes later passes. */
  readonly goOn: () => void;
}

export function createSuspension(): Suspension {
  const events = new EventEmitter();
  const reached = once(events, 'reached');
  const going = once(events, 'goes');
  return {
    reached,
    here: async () => {
      events.emit('reached');
      await going;
    },
    goOn: () => void events.emit('goes'),
  };
}
