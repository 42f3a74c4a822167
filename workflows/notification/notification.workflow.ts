import type { Notification } from '../../contracts/notification.ts';
import { sendNotification } from '../shared/activities.ts';

/**
 * Tells a person about a run. A workflow of its own, so that it outlives the run whose end it tells, and its id lets a reset
 * run start it no second time. Fails when the message was not taken in time.
 */
export async function notification(input: Notification): Promise<void> {
  await sendNotification.executeWithOptions({ summary: `tell a person: ${input.kind}` }, [input]);
}
