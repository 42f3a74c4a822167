import { watchDeadline } from '../shared/watch-deadline.ts';
import { closeTasks, workedMs } from './team-at-work.ts';
import type { TeamAtWork } from './team-at-work.ts';

/**
 * Watches the time of the team and of each task (cases 3.4, 8.2, 8.3). A task whose time is over is cancelled, with the call
 * that it makes; when the team's is, everything is. @returns ends it.
 */
export function watchTeam(t: TeamAtWork): () => void {
  const { timeout, member_timeout } = t.state.setup;
  return watchDeadline({
    clock: { ...t.clock, now: () => workedMs(t) },
    timeouts: { timeout, member_timeout },
    spans: () => [
      ...[...t.running].flatMap(([delegation_id, { since_ms, isTimedOut }]) =>
        isTimedOut
          ? []
          : [{ limit: 'member_timeout' as const, since_ms, at_work: [delegation_id] }],
      ),
      { limit: 'timeout', since_ms: 0, at_work: [...t.running.keys()] },
    ],
    summary: 'time limits of the team',
    onTimeout({ span }) {
      if (span.limit === 'timeout') {
        close(t);
        return 'end';
      }
      for (const id of span.at_work) {
        const task = t.running.get(id);
        if (task === undefined) continue;
        task.isTimedOut = true;
        task.scope.cancel();
      }
      return 'watch_on';
    },
  });
}

function close(t: TeamAtWork): void {
  const reason = `the team's ${t.state.setup.timeout} s (timeout) were over`;
  t.closed = { status: 'timed_out', reason };
  closeTasks(t, reason);
  t.scope.cancel();
}
