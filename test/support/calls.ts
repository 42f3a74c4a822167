import type { RecordedCall } from '../../rehearsal/script.ts';
import type { Stage } from './stage.ts';

/** The calls that a rule of the script answered, in the order of arrival: they show that a fault fired. */
export function scriptedCalls({ rehearsal }: Pick<Stage, 'rehearsal'>): RecordedCall[] {
  return rehearsal.calls().filter((call) => call.rule !== null);
}

/** The HTTP status of each call, in the order of arrival. */
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

/** What a call was sent, as far as tests look at it. */
export function bodyOf(call: RecordedCall | undefined): SentBody {
  const body: SentBody = JSON.parse(JSON.stringify(call?.body ?? null));
  return body;
}

/** The last message of a call as JSON text: what its turn added. */
export function lastMessageOf(call: RecordedCall | undefined): string {
  return JSON.stringify(bodyOf(call).messages.at(-1));
}
