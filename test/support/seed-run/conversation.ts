import type { EvidencePlace } from '../../../contracts/agent-output.ts';
import type { Reply, ScriptedRequest, ScriptedToolCall } from '../../../rehearsal/script.ts';
import { countReplies, messageTexts } from '../../chaos/conversation.ts';
import { completed } from '../scripted-work.ts';

/** Part of a request that a reply of the run depends on: the same request has the same reply, however often it is made. */
export interface Heard {
  /** All messages of the conversation. */
  readonly text: string;
  readonly newest: string;
  /** Times that the model has spoken before. */
  readonly turn: number;
  /** Returns the task_id of a task of the plan, by its name. */
  readonly idOf: (task: string) => string;
}

export function hear({ body }: Pick<ScriptedRequest, 'body'>): Heard {
  const texts = messageTexts(body);
  const text = texts.join('\n');
  return {
    text,
    newest: texts.at(-1) ?? '',
    turn: countReplies(body),
    idOf: (task) => new RegExp(`\\b${task}_\\d{10}\\b`).exec(text)?.[0] ?? `${task}_0000000000`,
  };
}

export const uses = (...tool_use: readonly ScriptedToolCall[]): Reply => ({ tool_use });

export const writes = (path: string, content: string): ScriptedToolCall => ({
  name: 'write_file',
  input: { path, content },
});

export const edits = (path: string, old_string: string, new_string: string): ScriptedToolCall => ({
  name: 'edit_file',
  input: { path, old_string, new_string },
});

export const runs = (...argv: readonly string[]): ScriptedToolCall => ({
  name: 'run_command',
  input: { argv },
});

export const runsTests: ScriptedToolCall = runs('node', '--test');

export const notes = (entry: Readonly<Record<string, string>>): ScriptedToolCall => ({
  name: 'completion_note',
  input: { notes: [entry] },
});

/** An output that meets the criterion of a task, and claims the files that it wrote. */
export function delivers(
  criterion: string,
  text: string,
  place: EvidencePlace,
  files: readonly string[] = [],
): Reply {
  const output = completed(criterion);
  return {
    json: {
      ...output,
      compact_md: text,
      detailed_md: `# Result\n\n${text}\n`,
      effects_claimed: files,
      coverage: {
        criteria_met: [{ criterion_id: criterion, evidence: text, where: place }],
        criteria_unmet: [],
      },
    },
  };
}
