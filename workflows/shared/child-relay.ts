import { getExternalWorkflowHandle } from '@temporalio/workflow';
import { lastNewsId } from '../../core/run/news.ts';
import type { Control, ControlChange } from './control.ts';
import { inBackground } from './in-background.ts';
import { informSignal, pauseSignal, resumeSignal } from './messages.ts';
import type { NewsFeed } from './news-feed.ts';
import { signalQuietly } from './signal-quietly.ts';

/** Passes pauses, resumes and decisions from the parent to its running children. */
export interface ChildRelay {
  /**
   * Must be called when a child has begun: messages during its start did not reach it.
   *
   * @param newsId The newest news item that it was started with; 0 for none.
   */
  welcome(childId: string, newsId: number): void;
  /** Must be called when the child has ended. */
  dismiss(childId: string): void;
}

interface Child {
  /** The newest change of control that it has not received. */
  change: ControlChange | null;
  /** The newest news item that it has received. */
  newsId: number;
  isTold: boolean;
}

/**
 * Creates the relay. Signals between workflows may overtake each other, and a pause that arrives after its resume would
 * stop a child for good. So the next signal to a child is sent when the one before has arrived, and of changes of
 * control only the newest counts.
 */
export function createChildRelay(control: Control, news: NewsFeed): ChildRelay {
  const children = new Map<string, Child>();

  const send = async (childId: string, child: Child): Promise<void> => {
    const handle = getExternalWorkflowHandle(childId);
    for (;;) {
      const { change } = child;
      const fresh = news.since(child.newsId);
      if (change !== null) {
        child.change = null;
        await signalQuietly(() =>
          change.type === 'pause'
            ? handle.signal(pauseSignal, { reason: change.reason })
            : handle.signal(resumeSignal, {}),
        );
      } else if (fresh.length > 0) {
        child.newsId = lastNewsId(fresh);
        await signalQuietly(() => handle.signal(informSignal, { news: fresh }));
      } else break;
    }
    child.isTold = true;
  };

  const tell = (childId: string, child: Child): void => {
    if (!child.isTold) return;
    child.isTold = false;
    inBackground(() => send(childId, child));
  };

  const tellAll = (): void => children.forEach((child, childId) => tell(childId, child));

  control.subscribe((change) => {
    for (const child of children.values()) child.change = change;
    tellAll();
  });
  news.subscribe(tellAll);

  return {
    welcome(childId, newsId) {
      const reason = control.parkedReason() ?? control.pausedReason();
      const change: ControlChange | null = reason === null ? null : { type: 'pause', reason };
      const child = { change, newsId, isTold: true };
      children.set(childId, child);
      tell(childId, child);
    },
    dismiss(childId) {
      children.delete(childId);
    },
  };
}
