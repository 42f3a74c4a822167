import type { z } from 'zod';
import type { Ref } from '../../../contracts/ref.ts';
import {
  type StateCall,
  type StateToolName,
  stateToolInputs,
} from '../../../contracts/state-call.ts';
import { describeIssues } from '../../text/describe-issues.ts';
import type { StateTool } from '../tool.ts';

type PutText = (text: string) => Promise<Ref>;

interface StateToolInit<S extends z.ZodType> {
  readonly name: StateToolName;
  readonly input: S;
  /** Description for a model: when to use it, and its limits. */
  readonly description: string;
  /** Example that the description ends with. */
  readonly example: z.input<S>;
  readonly toCall: (input: z.output<S>, put: PutText) => Promise<StateCall>;
  readonly rest?: Pick<StateTool, 'relate' | 'describeLeftOut'>;
}

/** Creates the entry of a state tool from its own parts. */
export function createStateTool<S extends z.ZodType>(init: StateToolInit<S>): StateTool {
  const { name, input: schema, toCall } = init;
  const description = `${init.description} Example: ${JSON.stringify(init.example)}`;
  return {
    spec: { name, description, input: schema },
    effect: 'state',
    name,
    offeredTo: ['turn'],
    ...init.rest,
    async read(input, store) {
      const parsed = schema.safeParse(input);
      if (!parsed.success) return { ok: false, tool: name, faults: describeIssues(parsed.error) };
      return { ok: true, call: await toCall(parsed.data, (text) => store.put(text)) };
    },
  };
}

export const completionNote = createStateTool({
  name: 'completion_note',
  input: stateToolInputs.completion_note,
  description:
    'Keeps your completion-drive notes: each assumption and uncertainty, while you work and while you review it. You may always call it. ' +
    'Several changes fit in one call; without note_id an action makes the note first. ' +
    'Technology, architecture, security, requirements and conflicting guidance are not yours to decide: escalate them, as a ' +
    'question that is understood without context. Resolve all others yourself, with evidence. In doubt escalate. ' +
    'An output with status "completed" is taken only when no note is open or escalated. For the answers to escalated notes ' +
    'give status "blocked"; no blocking question is needed then. It returns the state of each note, or why a change was refused.',
  example: {
    notes: [
      {
        action: 'escalate',
        category: 'requirements',
        description: 'Must the email of a user be unique?',
        context: 'Writing the table of users',
        text: 'The constraint depends on it, and the task does not say.',
      },
    ],
  },
  toCall: async ({ notes }) => ({
    tool: 'completion_note',
    entries: notes.map(({ action, note_id, category, description, context, text }) => ({
      action,
      note_id: note_id ?? null,
      category: category ?? null,
      description: description ?? '',
      context: context ?? '',
      text: text ?? '',
    })),
  }),
});
