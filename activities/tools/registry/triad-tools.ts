import { stateToolInputs } from '../../../contracts/state-call.ts';
import type { PhaseSummary } from '../../../contracts/spec.ts';
import { createStateTool } from './state-tool.ts';

export const registerClaim = createStateTool({
  name: 'register_claim',
  input: stateToolInputs.register_claim,
  description:
    'Claims one section of <spec>: "this section is mine, and this is what I propose". Use it in deliberate, for each ' +
    'section that <your_turn> lists under claim, and for others that you are the right one for. The proposal is the ' +
    'whole text of the section: when all have agreed to it, the section is done and nobody writes it again. Where it can ' +
    'only be written after agreement, such as code or many pages, say what it is to be, with "write_later":true. One ' +
    'claim of yours for each section. Only the orchestrator of a hierarchical triad gives for_member, and has to: the worker that ' +
    'the claim is for. A claim settles when all who negotiate have agreed to its newest revision.',
  example: {
    section_id: 'storage',
    proposal: '## Storage\nOne table for each month, because old months are deleted as a whole.',
  },
  toCall: async ({ section_id, proposal, for_member, write_later }, put) => ({
    tool: 'register_claim',
    section_id,
    for_member: for_member ?? null,
    proposal_ref: await put(proposal),
    ...(write_later === true && { write_later }),
  }),
});

export const negotiateResponse = createStateTool({
  name: 'negotiate_response',
  input: stateToolInputs.negotiate_response,
  description:
    'Answers one claim of <claims>, as it stands in its newest revision. Use it once for each claim_id that <your_turn> ' +
    'lists under answer: a claim without your answer makes your turn invalid. CONCEDE: you agree, and it stands as it ' +
    'is. REVISE: you would agree to it with a change; give the whole changed proposal as revised_proposal, which the ' +
    'others then answer. HOLD: you do not agree, and no change of yours would cure it. Each needs a reason that the ' +
    'others can act on. It returns your decision with the round, who takes part and what was said before.',
  example: {
    claim_id: 'keys.bob',
    decision: 'REVISE',
    reason: 'A key by device alone makes two rows of one second collide.',
    revised_proposal: '## Keys\nThe key is device and time in microseconds.',
  },
  toCall: async ({ claim_id, decision, reason, revised_proposal }, put) => ({
    tool: 'negotiate_response',
    claim_id,
    decision,
    reason_ref: await put(reason),
    revised_ref: typeof revised_proposal === 'string' ? await put(revised_proposal) : null,
  }),
});

export const openNegotiation = createStateTool({
  name: 'open_negotiation',
  input: stateToolInputs.open_negotiation,
  description:
    'Disputes a finished section: it becomes a claim that the others answer. Use it in execute when the text of one ' +
    'section contradicts another or what was agreed, or, as a critic, has a fault that has to be mended. As the ' +
    'orchestrator, assign_turn in the same reply to who has to answer it; as a critic, answer the claim yourself by ' +
    'negotiate_response. Not for style, and not for what its owner can simply be told to finish. The reason names both ' +
    'sides of the contradiction, or the place and the fault.',
  example: {
    section_id: 'storage',
    reason: '"storage" keeps raw data for 30 days, "reports" reads it after 90.',
  },
  toCall: async ({ section_id, reason }, put) => ({
    tool: 'open_negotiation',
    section_id,
    reason_ref: await put(reason),
  }),
});

export const getCurrentClaims = createStateTool({
  name: 'get_current_claims',
  input: stateToolInputs.get_current_claims,
  description:
    'Gives the claims as they stand now, with what you did in this turn: section, member, revision, state. Use it only ' +
    'when <claims> is not enough; it costs a turn of yours. Leave section_id out for all sections.',
  example: { section_id: 'storage' },
  toCall: async ({ section_id }) => ({
    tool: 'get_current_claims',
    section_id: section_id ?? null,
  }),
});

export const getNegotiationState = createStateTool({
  name: 'get_negotiation_state',
  input: stateToolInputs.get_negotiation_state,
  description:
    'Gives one claim as it stands now: its revisions, who has answered which of them with what, and who still has to. ' +
    'Use it only when <claims> is not enough; it costs a turn of yours.',
  example: { claim_id: 'keys.bob' },
  toCall: async ({ claim_id }) => ({ tool: 'get_negotiation_state', claim_id }),
});

export const editSection = createStateTool({
  name: 'edit_section',
  input: stateToolInputs.edit_section,
  description:
    'Writes the text of one section. Use it in execute for the sections that you own, until each is done; in deliberate ' +
    'for a section that nobody owns, where its description has to be better before anybody can claim it. Give the whole ' +
    'new text, not a part of it, and as base_version the version in <spec> that you changed: an edit of an older version ' +
    'is refused and comes back with the text that stands now. status "done" says that this text is the output of the ' +
    'section; "in_progress" that you go on with it.',
  example: {
    section_id: 'storage',
    base_version: 1,
    text: '## Storage\nOne table for each month: `readings_2026_01` …',
    status: 'done',
  },
  toCall: async ({ section_id, base_version, status, text }, put) => ({
    tool: 'edit_section',
    section_id,
    base_version,
    status,
    text_ref: await put(text),
  }),
});

export const generateCode = createStateTool({
  name: 'generate_code',
  input: stateToolInputs.generate_code,
  description:
    'Has a section that you own written as code. Use it in execute, instead of edit_section, for a section that is to be ' +
    'code. It returns the code and nothing else; the code becomes the text of the section, and the section is done. ' +
    'Whoever writes it knows the section, its settled proposal and your instructions, and nothing of this conversation: ' +
    'name inputs, outputs, cases and libraries in them. It does not run or check the code.',
  example: {
    section_id: 'import',
    language: 'typescript',
    instructions:
      'A function readRows(csv: string): Row[] for the columns device, time, value. A broken line throws an error with its number.',
  },
  toCall: async ({ section_id, language, instructions }, put) => ({
    tool: 'generate_code',
    section_id,
    language,
    instructions_ref: await put(instructions),
  }),
});

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
