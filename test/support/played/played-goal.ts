import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContentReply, ScriptedRequest, ScriptedToolCall } from '../../../rehearsal/script.ts';
import type { WorkflowType } from '../stage.ts';

/** Reply of the model that was played by hand. */
interface PlayedReply {
  /** The call it answers: `metadata.user_id` without the run and without the number at its end. */
  readonly call: string;
  readonly text?: string;
  readonly json?: unknown;
  readonly tools?: readonly ScriptedToolCall[];
}

/** Goal whose model and user were played by hand: realistic content for tests and measurements. */
export interface PlayedGoal {
  readonly name: string;
  readonly workflow: WorkflowType;
  readonly input: Readonly<Record<string, unknown>>;
  /** Answers of the user by question_id. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Replies in their original order. */
  readonly replies: readonly PlayedReply[];
}

const folder = fileURLToPath(new URL('goals', import.meta.url));

/** Reads all played goals, in the order of their names. */
export function readPlayedGoals(): readonly PlayedGoal[] {
  return readdirSync(folder)
    .toSorted()
    .map((file): PlayedGoal => {
      const goal: Omit<PlayedGoal, 'name'> = JSON.parse(readFileSync(join(folder, file), 'utf8'));
      return { name: file.replace(/\.json$/, ''), ...goal };
    });
}

/**
 * Replies to the calls of one run like the person who played the model, each reply once.
 *
 * @returns a function that throws for an unknown call.
 */
export function playGoal(
  goal: PlayedGoal,
  runId: string,
): (request: ScriptedRequest) => ContentReply {
  const left = [...goal.replies];
  return ({ callKey }) => {
    const call = callKey.slice(runId.length + 1, callKey.lastIndexOf('/'));
    const at = left.findIndex((reply) => reply.call === call);
    const [reply] = at < 0 ? [] : left.splice(at, 1);
    if (reply === undefined) {
      const rest = left.map((one) => one.call).join(', ');
      throw new Error(`${goal.name} has no reply for ${call}. Left: ${rest || 'none'}.`);
    }
    const { text, json, tools } = reply;
    return {
      ...(text !== undefined && { text }),
      ...(tools !== undefined && { tool_use: tools }),
      json,
      thinkMs: 0,
    };
  };
}
