import { getExternalWorkflowHandle } from '@temporalio/workflow';
import type { ControlChange } from './control.ts';
import { inBackground } from './in-background.ts';
import { pauseSignal, resumeSignal } from './messages.ts';
import { signalQuietly } from './signal-quietly.ts';

/** Passes a change of control on to a child, which pauses and resumes with its parent. */
export function signalControl(childId: string, change: ControlChange): void {
  const child = getExternalWorkflowHandle(childId);
  inBackground(() =>
    signalQuietly(() =>
      change.type === 'pause'
        ? child.signal(pauseSignal, { reason: change.reason })
        : child.signal(resumeSignal, {}),
    ),
  );
}
