import { quote, textOf, type JsonObject, type MessagesRequest } from '../messages-api.ts';
import { chooseAgent } from './choose-agents.ts';
import type { Prompt } from './prompt.ts';
import { readDesignMarks } from './rehearsal-marks.ts';

/** Request of a design, read from the first message. */
export interface DesignRequest {
  readonly goal: string;
  readonly prompt: Prompt;
  /** Results of earlier stages. */
  readonly materials: readonly JsonObject[];
  readonly tasks: readonly JsonObject[];
  /** Agents of the plan. */
  readonly roster: readonly JsonObject[];
  readonly findings: readonly JsonObject[];
  /** Open criteria of the user's own. */
  readonly goals: readonly JsonObject[];
  readonly subject: string;
  /** Addresses that the web returned. */
  readonly pages: readonly string[];
  /** Change that the user asked for; empty without one. */
  readonly change: string;
  /** Results of the work on the plan. */
  readonly works: readonly JsonObject[];
}

/** Draft that marks ask for. */
export const newAgent = {
  agent_id: 'rehearsed-specialist',
  description: 'A specialist that a rehearsed design asks for.',
  capabilities: ['rehearsal'],
  tools: [],
  risk_level: 'low',
  prompt: 'You gather facts and say where each is from.',
};

/** Reads the id of each task in the plan by its short name. */
export function idsIn({ tasks: planned }: DesignRequest): readonly { id: string; name: string }[] {
  const ids = planned.map((one) => textOf(one['task_id']));
  return ids.map((id) => ({ id, name: id.replace(/_\d{10}$/u, '') }));
}

/** Changes the plan as the user asked, or answers each finding; a mark in the goal leaves all findings as they are. */
export function changeDesign(request: DesignRequest): JsonObject {
  const { findings, change, goal } = request;
  const [first] = idsIn(request);
  const mends = findings.length > 0 && !readDesignMarks(goal).neverMends && first !== undefined;
  const text = change === '' ? 'Rehearsal: answers a finding.' : `Rehearsal: ${quote(change, 400)}`;
  const appended =
    first !== undefined && (mends || change !== '')
      ? [{ operation: 'append_instructions', task_id: first.id, heading: 'Change', text }]
      : [];
  return { explanation: text, operations: [...appended, ...changeRoster(request)] };
}

/** Gives the first agent of the roster to a new agent, or takes it back, as the user asked. */
function changeRoster({ change, prompt, roster: planned }: DesignRequest): JsonObject[] {
  const { needsNewAgent, dropsNewAgent } = readDesignMarks(change);
  const [agent] = planned;
  if (agent === undefined || needsNewAgent === dropsNewAgent) return [];
  const { agent_id: id } = newAgent;
  const verifiers = new Set(
    planned.filter((one) => one['role'] === 'verifier').map((one) => one['agent_id']),
  );
  const doers = prompt.agents.filter((one) => !verifiers.has(one['agent_id']));
  const agent_id = needsNewAgent ? id : chooseAgent(doers, ['research'], new Set());
  const draft = needsNewAgent
    ? { operation: 'draft_agent', draft: newAgent }
    : { operation: 'remove_draft', agent_id: id };
  return [draft, { operation: 'change_agent', agent: { ...agent, agent_id } }];
}

/** Turns criteria of the user into evidence of the task that meets them. */
export function goalEvidence(goals: DesignRequest['goals']): JsonObject[] {
  return goals.map(({ criterion_id, description }) => ({
    evidence_id: textOf(criterion_id),
    description: textOf(description),
  }));
}

/** Reads the addresses in the results of tools. */
export function pagesIn({ messages }: MessagesRequest): readonly string[] {
  const results = messages.flatMap(({ blocks }) =>
    blocks.filter(({ type }) => type === 'tool_result').map((block) => JSON.stringify(block)),
  );
  const urls = results.flatMap((text) => text.match(/https?:\/\/[^\s"\\]+/gu) ?? []);
  return [...new Set(urls)];
}
