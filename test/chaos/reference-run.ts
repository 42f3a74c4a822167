import type { AskedQuestion } from '../../contracts/question.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';
import type { RecordedCall, Reply, ScriptedRequest } from '../../rehearsal/script.ts';
import { triad, triadWork } from '../support/scripted-triad.ts';
import { blocked, completed, decision, plan, question, work } from '../support/scripted-work.ts';

/**
 * The run that the campaign hurts: four delegations, one of which needs another's output and loads it with a tool, one of
 * which is done by a triad, and two of which ask a question. Its replies depend on the conversation alone, never on how
 * often a call was made, so a run that was hurt must come to the same artifacts, byte for byte.
 */
export const referenceGoal = 'Move the backups of a small shop to a second data centre';

/** Who asks, what the user answers, and another answer that comes too late. */
interface Asking {
  readonly asked: AskedQuestion;
  readonly answer: string | number;
  readonly tooLate: string | number;
}

/** By delegation. Each default is the answer, so a run that takes the defaults comes to the same artifacts. */
export const askings: Readonly<Record<string, Asking>> = {
  costs: {
    asked: question('How many euros a month may it cost?', {
      expected_answer_format: 'number',
      default_answer: '120',
    }),
    answer: 120,
    tooLate: 9_000,
  },
  region: {
    asked: question('Which region shall hold the copies?', {
      expected_answer_format: 'choice',
      choices: ['eu-west', 'eu-north'],
      default_answer: 'eu-north',
    }),
    answer: 'eu-north',
    tooLate: 'eu-west',
  },
};

/** The delegation that three peers do: they work at the same time, each on a section of its own, and one of them asks. */
export const triadTask = 'region';

const sections = ['law', 'distance', 'price'].map((section_id) => ({
  section_id,
  text: `What is to be said of the ${section_id}.`,
}));

const referencePlan: WavePlan = plan([
  work('facts'),
  work('costs'),
  triadWork(triadTask, 'consensus', { triad: triad('consensus', { sections }) }),
  work('summary', { agent_id: 'researcher', depends_on: ['facts'], required_inputs: ['facts'] }),
]);

/** Ids of its delegations. */
export const taskIds: readonly string[] = referencePlan.delegations.map(
  ({ delegation_id }) => delegation_id,
);

/** A call as its key and its conversation tell: `plan 1`, `costs 2`, `region negotiate peer-1 2`. */
export type CallName = string;

/** @throws when the key is not one of the engine's. */
export function callNameOf({
  callKey,
  turn,
  body,
}: Pick<RecordedCall, 'callKey' | 'turn' | 'body'>): CallName {
  const { task } = readCallKey(callKey);
  const whose = turn === null ? task : `${task} ${turn.phase} ${turn.member}`;
  return `${whose} ${messagesOf(body).filter(({ role }) => role === 'assistant').length + 1}`;
}

export interface CallAddress {
  readonly workflowId: string;
  readonly activityId: string;
  /** A delegation's id, also for its triad's members, or `plan` or `decision`. */
  readonly task: string;
}

/** Takes `<workflow id>/<agent>/<shape>/<activity id>` apart. */
export function readCallKey(callKey: string): CallAddress {
  const [, workflowId = '', delegation, shape, activityId = ''] =
    /^(.+?\/wave-\d+(?:\/([\w-]+)(?:\/[\w-]+)?)?)\/[\w-]+\/(?:wave_)?(\w+)\/(\w+)$/.exec(callKey) ??
    [];
  const task = delegation ?? shape;
  if (task === undefined) throw new Error(`The call key ${callKey} is not one of the engine's.`);
  return { workflowId, activityId, task };
}

/** What the model answers to this call, whenever and however often it comes. */
export function replyTo(request: ScriptedRequest): Reply {
  const { task } = readCallKey(request.callKey);
  if (task === 'plan') return { json: referencePlan };
  if (task === 'decision') return { json: decision() };
  // What members put into their spec is the rehearsal's own, which looks at nothing but the request.
  if (request.shape === null) return { pass: true };
  const said = messagesOf(request.body);
  const isFirst = !said.some(({ role }) => role === 'assistant');
  if (task === 'summary' && isFirst) {
    return { tool_use: [{ name: 'load_detail', input: { detail_id: 'facts' } }] };
  }
  const asking = askings[task];
  if (asking === undefined) return { json: completed(`${task}-done`) };
  const told = /<answers>(.*)<\/answers>/su.exec(textOf(said.at(-1)))?.[1];
  if (told === undefined) return { json: blocked([asking.asked], `${task}-done`) };
  // What the agent was told is part of what it delivers: a wrong answer is another artifact.
  const answers = [...told.matchAll(/"answer": ?("[^"]*")/g)].map(([, answer]) => answer);
  const output = completed(`${task}-done`);
  return {
    json: { ...output, detailed_md: `${output.detailed_md}\nTold: ${answers.join(', ')}\n` },
  };
}

interface SentMessage {
  readonly role: string;
  readonly content: string | readonly { readonly text?: string }[];
}

function messagesOf(body: unknown): readonly SentMessage[] {
  const sent: { messages?: readonly SentMessage[] } | null = JSON.parse(
    JSON.stringify(body ?? null),
  );
  return sent?.messages ?? [];
}

function textOf(message: SentMessage | undefined): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('\n');
}
