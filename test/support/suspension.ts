import { EventEmitter, once } from 'node:events';

/** Point at which a test holds an operation, as if its worker were suspended there. */
export interface Suspension {
  /** Awaited by the operation when it reaches the point. */
  readonly here: () => Promise<void>;
  /** Resolves when the operation has reached the point. */
  readonly reached: Promise<unknown>;
  /** Releases the operation. Later ones pass. */
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
