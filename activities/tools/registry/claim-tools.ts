import { stateToolInputs } from '../../../contracts/state-call.ts';
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
