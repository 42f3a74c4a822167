import { getExternalWorkflowHandle } from '@temporalio/workflow';
import type { Control, ControlChange } from './control.ts';
import { inBackground } from './in-background.ts';
import { pauseSignal, resumeSignal } from './messages.ts';
import { signalQuietly } from './signal-quietly.ts';

/** Passes changes of control on to children, which pause and resume with their parent. */
export interface ControlRelay {
  tell(childId: string, change: ControlChange): void;
  /** Call it when a child has begun: a change that came while it was being started found nobody. */
  welcome(childId: string): void;
}

/**
 * Signals between workflows may overtake each other: a pause that arrives after its resume would stop a child for good.
 * So the next one to a child goes out when the one before has arrived, and only the newest counts.
 */
export function createControlRelay(control: Control): ControlRelay {
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

  const tell = (childId: string, change: ControlChange): void => {
    unsent.set(childId, change);
    if (sending.has(childId)) return;
    sending.add(childId);
    inBackground(() => send(childId));
  };

  return {
    tell,
    welcome(childId) {
      const reason = control.parkedReason() ?? control.pausedReason();
      if (reason !== null) tell(childId, { type: 'pause', reason });
    },
  };
}
