import type { NotificationBody } from '../../core/run/notify.ts';

/** Tells a person about a run, outside of planwave. */
export interface Notifier {
  /**
   * Sends a message once. The receiver knows a repetition by its id.
   *
   * @throws {NotificationFailed} when it was not taken, within a bounded time.
   */
  send(message: NotificationBody, signal: AbortSignal): Promise<void>;
}

/** A message was not taken. The text names the host or the program, never an address that may hold a secret. */
export class NotificationFailed extends Error {
  override readonly name = 'NotificationFailed';
  readonly type = 'NotificationFailed';
}
