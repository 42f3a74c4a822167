import type { RecordedCall } from '../../rehearsal/script.ts';
import type { Stage } from './stage.ts';

/**
 * Returns the calls that a rule of the script answered, in the order of arrival: they show that a fault fired.
 *
 * @param rules positions in the script. Default: all.
 */
export function scriptedCalls(
  { rehearsal }: Pick<Stage, 'rehearsal'>,
  ...rules: readonly number[]
): RecordedCall[] {
  return rehearsal
    .calls()
    .filter(({ rule }) => rule !== null && (rules.length === 0 || rules.includes(rule)));
}

/** Returns the HTTP status of each call, in the order of arrival. */
export function statusesOf(calls: readonly RecordedCall[]): (number | null)[] {
  return calls.map((call) => call.replyStatus);
}

interface SentMessage {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly [key: string]: unknown }[];
}

interface SentBody {
  readonly max_tokens: number;
  readonly messages: readonly SentMessage[];
  readonly tools?: readonly { readonly name: string }[];
}

/** Returns the sent body of a call, as far as tests look at it. */
export function bodyOf(call: RecordedCall | undefined): SentBody {
  const body: SentBody = JSON.parse(JSON.stringify(call?.body ?? null));
  return body;
}

/** Returns the last message of a call as JSON text: the addition of its turn. */
export function lastMessageOf(call: RecordedCall | undefined): string {
  return JSON.stringify(bodyOf(call).messages.at(-1));
}

/** Returns the faults that a call gave back to the model, as `path: reason hint`. Empty when its turn added none. */
export function faultsOf(call: RecordedCall | undefined): string[] {
  const { content = '' } = bodyOf(call).messages.at(-1) ?? {};
  const texts = typeof content === 'string' ? [content] : content.map(({ text }) => String(text));
  const [, json = '[]'] = /<faults>(.*)<\/faults>/su.exec(texts.join('\n')) ?? [];
  const faults: readonly { path: string; reason: string; hint: string }[] = JSON.parse(json);
  return faults.map(({ path, reason, hint }) => `${path}: ${reason} ${hint}`);
}
