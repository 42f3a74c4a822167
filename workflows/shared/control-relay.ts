import { getExternalWorkflowHandle } from '@temporalio/workflow';
import type { ControlChange } from './control.ts';
import { inBackground } from './in-background.ts';
import { pauseSignal, resumeSignal } from './messages.ts';
import { signalQuietly } from './signal-quietly.ts';

/** Passes changes of control on to children, which pause and resume with their parent. */
export interface ControlRelay {
  tell(childId: string, change: ControlChange): void;
}

/**
 * Signals between workflows may overtake each other: a pause that arrives after its resume would stop a child for good.
 * So the next one to a child goes out when the one before has arrived, and only the newest counts.
 */
export function createControlRelay(): ControlRelay {
  const unsent = new Map<string, ControlChange>();
  const sending = new Set<string>();

  const send = async (childId: string): Promise<void> => {
    const child = getExternalWorkflowHandle(childId);
    for (let change = unsent.get(childId); change !== undefined; change = unsent.get(childId)) {
      const current = change;
      unsent.delete(childId);
      await signalQuietly(() =>
        current.type === 'pause'
          ? child.signal(pauseSignal, { reason: current.reason })
          : child.signal(resumeSignal, {}),
      );
    }
    sending.delete(childId);
  };

  return {
    tell(childId, change) {
      unsent.set(childId, change);
      if (sending.has(childId)) return;
      sending.add(childId);
      inBackground(() => send(childId));
    },
  };
}
