interface SentBlock {
  readonly text?: string;
  /** Content of a tool's result. */
  readonly content?: unknown;
}

interface SentMessage {
  readonly role: string;
  readonly content: string | readonly SentBlock[];
}

function messagesOf(body: unknown): readonly SentMessage[] {
  const sent: { messages?: readonly SentMessage[] } | null = JSON.parse(
    JSON.stringify(body ?? null),
  );
  return sent?.messages ?? [];
}

/** How often the model has spoken before. */
export function countReplies(body: unknown): number {
  return messagesOf(body).filter(({ role }) => role === 'assistant').length;
}

/** The text of each message, results of tools included. */
export function messageTexts(body: unknown): readonly string[] {
  return messagesOf(body).map(({ content }) =>
    typeof content === 'string' ? content : content.map(textOfBlock).join('\n'),
  );
}

function textOfBlock({ text, content }: SentBlock): string {
  return text ?? (typeof content === 'string' ? content : '');
}

/** The answers that the newest message brings, as JSON texts; undefined when it brings none. */
export function toldAnswers(body: unknown): readonly string[] | undefined {
  const newest = messageTexts(body).at(-1) ?? '';
  const told = /<answers>(.*)<\/answers>/su.exec(newest)?.[1];
  if (told === undefined) return undefined;
  return [...told.matchAll(/"answer": ?("[^"]*")/g)].map(([, answer = '']) => answer);
}
