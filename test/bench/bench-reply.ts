import type { JsonObject } from '../../rehearsal/messages-api.ts';
import type { ContentReply, ScriptedRequest } from '../../rehearsal/script.ts';
import { blocked, completed, decision, plan, question, work } from '../support/scripted-work.ts';
import { composeText, gatherId, readJobs, writeJob } from './bench-job.ts';
import type { BenchJob } from './bench-job.ts';
import { composeMemberReply, owesOutput } from './member-reply.ts';

/** A reply is about this long, in characters: what the other engines were measured with. */
const replyChars = 1_000;

/** Composes the model server's reply to one call. */
export function composeBenchReply({ body, shape, callKey }: ScriptedRequest): ContentReply {
  const { prompt } = readConversation(body);
  const jobs = readJobs(prompt);
  // The planner's prompts begin with the goal; a delegation's packet ends with its own task.
  const job = shape === 'plan' || shape === 'decision' ? jobs[0] : jobs.at(-1);
  if (job === undefined) throw new Error(`The prompt of ${callKey} holds no job.`);
  const common = { delayMs: job.delayMs, thinkMs: 0 };
  if (shape === 'plan') return { ...common, json: planFor(job) };
  if (shape === 'decision') return { ...common, json: decision() };
  if (shape === 'review') return { ...common, json: passedOn };
  return { ...common, ...workFor(job, callKey, body) };
}

/** The first message, the newest one, and how many replies stand between them, each with exactly one text. */
export function readConversation(body: JsonObject): {
  readonly prompt: string;
  readonly newest: string;
  readonly repliesBefore: number;
} {
  const messages = listOf(body['messages']);
  const replies = messages.filter(({ role }) => role === 'assistant');
  return {
    prompt: textsOf(messages[0]).join('\n'),
    newest: textsOf(messages.at(-1)).join('\n'),
    repliesBefore: replies.flatMap(textsOf).length,
  };
}

function workFor(job: BenchJob, seed: string, body: JsonObject): ContentReply {
  const { repliesBefore, newest } = readConversation(body);
  const isLast = job.by === 'triad' ? owesOutput(newest) : repliesBefore + 1 >= job.turns;
  return isLast ? outputFor(job, seed) : stepFor(job, seed, newest);
}

function outputFor({ id }: BenchJob, seed: string): ContentReply {
  return {
    json: { ...completed(`${id}-done`), detailed_md: composeText(seed, replyChars - 500) },
  };
}

function stepFor(job: BenchJob, seed: string, newest: string): ContentReply {
  const text = composeText(seed, replyChars);
  switch (job.by) {
    case 'pause':
      return { text, stop_reason: 'pause_turn' };
    case 'tool':
      return { text, tool_use: [{ name: 'load_detail', input: { detail_id: gatherId } }] };
    case 'triad':
      return composeMemberReply(newest, seed, replyChars);
    case 'question':
      return { json: blocked([question(`Which one? ${seed.slice(0, 200)}`)], `${job.id}-done`) };
  }
}

/** The planner leaves the one question of an agent to the user. */
const passedOn = {
  reviews: [
    {
      question: 1,
      verdict: 'needs_user_input',
      answer: null,
      source_refs: [],
      reason: 'Only the user knows.',
    },
  ],
};

/** The planner of a run sends one agent, which asks and then gives its output. */
function planFor({ delayMs }: BenchJob): unknown {
  const job: BenchJob = { id: 'ask', turns: 2, by: 'question', delayMs };
  return plan([work(job.id, { task_description: writeJob(job) })]);
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item): item is JsonObject => isObject(item)) : [];
}

function textsOf(message: JsonObject | undefined): readonly string[] {
  const content = message?.['content'];
  if (typeof content === 'string') return [content];
  return listOf(content).flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  );
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
