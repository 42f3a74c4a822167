import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { createNotifier, type NotifyTarget } from '../activities/adapters/notifier.ts';
import { NotificationFailed } from '../activities/ports/notifier.ts';
import { redactNotifier } from '../activities/redaction/redact-ports.ts';
import type { DoctorFinding } from '../client/cli/cli-deps.ts';
import { renderNotification } from '../core/run/notify.ts';
import { createRedactor } from '../redaction/create-redactor.ts';
import { collectOwnSecrets } from '../redaction/own-secrets.ts';
import { BadSettings, readNotifyTarget } from '../worker/worker-settings.ts';

/** Shows where people are told about runs, without what may be secret. */
export function checkNotify(env: NodeJS.ProcessEnv): DoctorFinding {
  try {
    const target = readNotifyTarget(env);
    if (target === undefined) return { ok: true, detail: 'none; no PLANWAVE_NOTIFY' };
    return { ok: true, detail: `${describeTarget(target)}; doctor --notify sends a test message` };
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    const [detail = '', cure] = error.message.split(/\n?Try: /);
    return { ok: false, detail, cure };
  }
}

function describeTarget(target: NotifyTarget): string {
  return target.kind === 'webhook'
    ? `signed webhook at ${new URL(target.url).host}`
    : `command ${basename(target.argv[0])}`;
}

/** Sends a test message as the settings say. */
export async function testNotification(env: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  const shown = checkNotify(env);
  const target = shown.ok ? readNotifyTarget(env) : undefined;
  if (target === undefined) {
    const cure =
      shown.cure ?? 'set PLANWAVE_NOTIFY to the value that the worker uses (docs/notifications.md)';
    return { ok: false, detail: shown.detail, cure };
  }
  const redactor = createRedactor({ secrets: collectOwnSecrets(env) });
  const message = renderNotification(
    {
      id: `msg_${randomBytes(8).toString('hex')}`,
      kind: 'test',
      run_id: 'planwave',
      phase: 'working',
      goal: 'A test of PLANWAVE_NOTIFY',
      text: 'this is a test message of planwave doctor --notify',
      open_questions: 0,
      cost_micro_usd: 0,
    },
    new Date().toISOString(),
  );
  try {
    const notifier = redactNotifier(createNotifier(target), redactor);
    await notifier.send(message, new AbortController().signal);
    return { ok: true, detail: `the ${describeTarget(target)} took a test message` };
  } catch (error) {
    if (!(error instanceof NotificationFailed)) throw error;
    return { ok: false, detail: error.message, cure: 'correct what it names, and try again' };
  }
}
