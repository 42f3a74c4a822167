import { stateToolInputs } from '../../../contracts/state-call.ts';
import { createStateTool } from './state-tool.ts';
import type { PhaseSummary } from '../../../contracts/spec.ts';

export const assignTurn = createStateTool({
  name: 'assign_turn',
  input: stateToolInputs.assign_turn,
  description:
    'Gives a worker its next turn. Use it as the orchestrator, once for each worker that is to work now; both at once ' +
    'where their work does not depend on each other. The worker sees your instruction, <spec> and <claims>, and nothing ' +
    'of your history or of the other worker: say all that it needs. Its result comes to you as soon as it is there. When ' +
    'you assign no turn and nobody is at work, the phase ends.',
  example: {
    member: 'worker-a',
    instruction: 'Claim the section "storage". Keep in mind that reports read 90 days of raw data.',
  },
  toCall: async ({ member, instruction }, put) => ({
    tool: 'assign_turn',
    member,
    instruction_ref: await put(instruction),
  }),
});

export const submitSummary = createStateTool({
  name: 'submit_summary',
  input: stateToolInputs.submit_summary,
  description:
    'Hands over to the next phase, whose members read this and nothing else of what was said here. Use it once, when ' +
    '<your_turn> says "summary":true, after your other calls. decisions: what was settled, with its reason. ' +
    'open_questions: what was not. artifacts: what there is already. Name every section by its section_id. After ' +
    'negotiate, one that has an owner stands among the decisions and a disputed one among the open questions; after ' +
    'deliberate it stands where it fits. Only what is in the records or was said; a list ' +
    'may be empty. section_id is null where it is about the whole.',
  example: {
    decisions: [
      { section_id: 'storage', decision: 'One table for each month: old months go as a whole.' },
    ],
    open_questions: [{ section_id: null, question: 'How long are raw data kept?' }],
    artifacts: [{ section_id: 'storage', artifact: 'A draft of the table in section "storage".' }],
  },
  toCall: async (summary, put) => ({
    tool: 'submit_summary',
    summary: {
      summary_ref: await put(JSON.stringify(summary)),
      decided: listSections(summary.decisions),
      open: listSections(summary.open_questions),
    },
  }),
});

/** Lists the sections that are named, each once. */
function listSections(
  entries: readonly Pick<PhaseSummary['decisions'][number], 'section_id'>[],
): string[] {
  return [...new Set(entries.flatMap(({ section_id }) => section_id ?? []))];
}
