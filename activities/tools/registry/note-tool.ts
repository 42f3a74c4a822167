import { stateToolInputs } from '../../../contracts/state-call.ts';
import { createStateTool } from './state-tool.ts';

export const completionNote = createStateTool({
  name: 'completion_note',
  input: stateToolInputs.completion_note,
  description:
    'Keeps your completion-drive notes: each assumption and uncertainty, while you work and while you review it. ' +
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
