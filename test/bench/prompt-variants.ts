import { objectsOf, textOf, type JsonObject } from '../../rehearsal/messages-api.ts';

/** A call of a delegation as it reached the model. */
export interface SentCall {
  /** The same for all calls of one conversation. */
  readonly conversation: string;
  readonly body: JsonObject;
}

/** The same calls, laid out otherwise. They come in the order in which they arrived. */
export type Variant = (calls: readonly SentCall[]) => readonly JsonObject[];

const marked = { cache_control: { type: 'ephemeral' } } as const;

/** As it was sent, and nothing is kept. */
export const withoutBreakpoints: Variant = (calls) => calls.map(({ body }) => unmarked(body));

/** Each agent's role where it usually stands, in the system prompt: what follows is another prefix for every role. */
export const roleFirst: Variant = (calls) =>
  calls.map(({ body }) => {
    const { messages, role } = splitRole(body);
    return { ...unmarked(body), system: systemOf(body, role), messages: markEnd(messages) };
  });

/**
 * As in a group chat: each agent reads, after its role, all that was said so far in all conversations. Final outputs
 * are left out, because no later call of theirs shows them.
 */
export const fullHistory: Variant = (calls) => {
  const said: JsonObject[] = [];
  const lengths = new Map<string, number>();
  return calls.map(({ conversation, body }) => {
    const { messages, role } = splitRole(body);
    const [first, ...rest] = messages;
    const blocks = objectsOf(first?.['content']);
    const seen = lengths.get(conversation);
    const added = seen === undefined ? blocks.slice(1) : rest.slice(seen - 1);
    lengths.set(conversation, messages.length);
    said.push({ type: 'text', text: JSON.stringify(added) });
    const content = [...blocks.slice(0, 1), ...said];
    const history = markEnd([{ role: 'user', content }]);
    return { ...unmarked(body), system: systemOf(body, role), messages: history };
  });
};

/** The same, and nothing is kept: what most engines with a shared chat send. */
export const fullHistoryUncached: Variant = (calls) => fullHistory(calls).map(unmarked);

function systemOf(body: JsonObject, role: string): JsonObject[] {
  const rules = objectsOf(body['system']).map((block) => ({ ...unmarkedBlock(block), ...marked }));
  return [...rules, { type: 'text', text: role, ...marked }];
}

/** Takes the role out of the first message, whose first block is the wave's and whose second is the agent's own. */
function splitRole(body: JsonObject): { messages: JsonObject[]; role: string } {
  const [first, ...rest] = objectsOf(unmarked(body)['messages']);
  const [shared, own] = objectsOf(first?.['content']);
  const text = textOf(own?.['text']);
  const role = /^<role [^]*?<\/role>/.exec(text)?.[0];
  if (shared === undefined || role === undefined) throw new Error('The prompt has no role.');
  const content = [shared, { type: 'text', text: text.slice(role.length) }];
  return { messages: [{ role: 'user', content }, ...rest], role };
}

function markEnd(messages: readonly JsonObject[]): JsonObject[] {
  return messages.map((message, at) => {
    if (at < messages.length - 1) return message;
    const blocks = objectsOf(message['content']);
    const content = blocks.map((block, n) =>
      n < blocks.length - 1 ? block : { ...block, ...marked },
    );
    return { ...message, content };
  });
}

function unmarked(body: JsonObject): JsonObject {
  return {
    ...body,
    system: objectsOf(body['system']).map(unmarkedBlock),
    messages: objectsOf(body['messages']).map((message) => ({
      ...message,
      content: objectsOf(message['content']).map(unmarkedBlock),
    })),
  };
}

function unmarkedBlock(block: JsonObject): JsonObject {
  const { cache_control: _marked, ...rest } = block;
  return rest;
}
