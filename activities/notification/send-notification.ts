import { ApplicationFailure, cancellationSignal, log } from '@temporalio/activity';
import type { Activities } from '../../contracts/activity-types.ts';
import { Notification } from '../../contracts/notification.ts';
import { renderNotification } from '../../core/run/notify.ts';
import { NotificationFailed, type Notifier } from '../ports/notifier.ts';

/** The activity that tells a person about a run. @param notifier Null where the worker has no setting for it. */
export function createNotificationActivities(
  notifier: Notifier | null,
): Pick<Activities, 'sendNotification'> {
  return {
    async sendNotification(input) {
      const read = Notification.safeParse(input);
      if (!read.success)
        throw ApplicationFailure.nonRetryable('This is no notification.', 'InvalidInput');
      if (notifier === null) {
        log.warn('a person was not told: this worker has no PLANWAVE_NOTIFY');
        return;
      }
      try {
        const timestamp = new Date(read.data.at * 1_000).toISOString();
        await notifier.send(renderNotification(read.data, timestamp), cancellationSignal());
      } catch (error) {
        if (!(error instanceof NotificationFailed)) throw error;
        throw ApplicationFailure.create({ type: error.type, message: error.message });
      }
    },
  };
}
