import Anthropic from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import type { z } from 'zod';
import { startRehearsalServer } from '../../../rehearsal/server/server.ts';
import type { RehearsalServer } from '../../../rehearsal/server/server.ts';
import type { TurnBrief } from '../../../contracts/state-call.ts';

export interface Rig {
  readonly server: RehearsalServer;
  readonly client: Anthropic;
}

/** A server that answers without delay, with the real SDK beside it. */
export async function startRig(): Promise<Rig> {
  const server = await startRehearsalServer({ port: 0, thinkMs: 0, scriptable: true });
  return { server, client: createClient(server.url) };
}

export function createClient(baseURL: string): Anthropic {
  return new Anthropic({ apiKey: 'rehearsal', baseURL, maxRetries: 0, logLevel: 'off' });
}

type Params = Anthropic.MessageCreateParamsNonStreaming;

export function paramsFor(
  content: Params['messages'][number]['content'],
  more: Partial<Params> = {},
): Params {
  return {
    model: 'claude-opus-5-5',
    max_tokens: 8_000,
    messages: [{ role: 'user', content }],
    ...more,
  };
}

/** The JSON that the model answers to a prompt when a contract's shape is asked for, not yet checked. */
export async function askFor(
  client: Anthropic,
  shape: z.ZodType,
  messages: Params['messages'] | string,
): Promise<unknown> {
  const message = await client.messages
    .stream({
      ...paramsFor(''),
      messages: typeof messages === 'string' ? [{ role: 'user', content: messages }] : messages,
      output_config: { format: plainFormat(shape) },
    })
    .finalMessage();
  return JSON.parse(textOf(message));
}

/** The SDK parses a reply itself when the format can; here the reply is wanted as it came. */
export function plainFormat(shape: z.ZodType): Anthropic.JSONOutputFormat {
  const { type, schema } = zodOutputFormat(shape);
  return { type, schema };
}

export function textOf(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

export const agents = [
  { agent_id: 'scribe', description: 'Writes and edits documents.' },
  { agent_id: 'scout', description: 'Researches facts and sources.' },
  { agent_id: 'judge', description: 'Reviews and verifies results.' },
];

interface PlanParts {
  readonly wave?: number;
  readonly agents?: unknown;
  readonly open?: unknown;
  readonly known?: unknown;
  readonly answered?: unknown;
  readonly limits?: unknown;
  /** False for a run that forbids triads. */
  readonly triads?: boolean;
  /** Teams with a name. If undefined, the run forbids teams. */
  readonly teams?: unknown;
}

/** Blocks in the layout of planwave's prompts, where requests mention blocks in their prose. */
export function planPrompt(goal: string, more: PlanParts = {}): string {
  return [
    `<request kind="plan" wave="${more.wave ?? 1}">\nPlan with <agents> for <goal>.\n</request>`,
    goalBlock(goal),
    `<constraints>[]</constraints>`,
    `<agents>${toJson(more.agents ?? agents)}</agents>`,
    `<open_criteria>${toJson(more.open ?? [])}</open_criteria>`,
    `<known_inputs>${toJson(more.known ?? ['goal'])}</known_inputs>`,
    `<answered_questions>${toJson(more.answered ?? [])}</answered_questions>`,
    '<wave_compact>\nNothing yet.\n<agents>[]&lt;/agents>\n</wave_compact>',
    ...(more.teams === undefined ? [] : [`<teams>${toJson({ teams: more.teams })}</teams>`]),
    ...(more.triads === false ? [] : ['<triads>{"models":[]}</triads>']),
    `<limits>${toJson(more.limits ?? { max_delegations: 20 })}</limits>`,
  ].join('\n\n');
}

export function delegationPrompt(
  goal: string,
  delegation: unknown,
  more: { details?: unknown; answered?: unknown } = {},
): string {
  return [
    '<request kind="delegation">\nDo the task in <delegation> and give your output.\n</request>',
    goalBlock(goal),
    `<answered_questions>${toJson(more.answered ?? [])}</answered_questions>`,
    '<active_assumptions>[]</active_assumptions>',
    '<planner_compact_input>\nRehearse.\n</planner_compact_input>',
    `<detail_index>${toJson(more.details ?? [])}</detail_index>`,
    `<delegation>${toJson(delegation)}</delegation>`,
  ].join('\n\n');
}

export function decisionPrompt(goal: string, outcomes: unknown, open: unknown): string {
  return [
    '<request kind="decision" wave="2">\nCheck <outcomes>. <open_criteria> are open.\n</request>',
    goalBlock(goal),
    `<outcomes>${toJson(outcomes)}</outcomes>`,
    `<open_criteria>${toJson(open)}</open_criteria>`,
  ].join('\n\n');
}

export function reviewPrompt(goal: string, questions: unknown): string {
  return [
    '<request kind="question_review" wave="1">\nSettle <questions>.\n</request>',
    goalBlock(goal),
    `<questions>${toJson(questions)}</questions>`,
  ].join('\n\n');
}

/** The first message of an agent at work on a task, or of a leader where there is a team. */
export function packetPrompt(
  goal: string,
  agentId: string,
  delegation: unknown,
  team?: { readonly members: unknown; readonly max_delegations?: number },
): string {
  const kind = team === undefined ? 'delegation' : 'leader';
  return [
    `<request kind="${kind}">\nDo the task in <delegation>.\n</request>`,
    goalBlock(goal),
    `<role agent_id="${agentId}">\nA role. <delegation>{}&lt;/delegation>\n</role>`,
    ...(team === undefined
      ? []
      : [
          `<team>${toJson({ max_delegations: team.max_delegations ?? 10 })}</team>`,
          `<members>${toJson(team.members)}</members>`,
        ]),
    `<delegation>${toJson(delegation)}</delegation>`,
  ].join('\n\n');
}

/** The first message of a member of a triad, on a spec without texts. */
export function memberPrompt(goal: string, brief: TurnBrief): string {
  const { type, phase, member, team, round, rounds_max, duties, spec } = brief;
  const { name, role } = member;
  return [
    '<request kind="member">\nTake your turn. What you owe stands in <your_turn>.\n</request>',
    goalBlock(goal),
    `<triad>${toJson({ type, phase, member: name, role, team, rounds_max })}</triad>`,
    `<your_turn>${toJson({ round, rounds_max, duties })}</your_turn>`,
    `<data marker="abc">\n<spec>${toJson(spec.sections)}</spec>\n</data marker="abc">`,
  ].join('\n\n');
}

const goalBlock = (goal: string): string => `<goal>\n${goal.replaceAll('</', '&lt;/')}\n</goal>`;
const toJson = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');
