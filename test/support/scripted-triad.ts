import type { z } from 'zod';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { WrittenDelegation } from '../../contracts/delegation.ts';
import type { NegotiationDecision } from '../../contracts/spec.ts';
import type { StateToolName, stateToolInputs } from '../../contracts/state-call.ts';
import { readMessagesRequest, type MessagesRequest } from '../../rehearsal/messages-api.ts';
import { listTurns, readMember } from '../../rehearsal/rules/member-prompt.ts';
import type { MemberPrompt, ShownClaim } from '../../rehearsal/rules/member-prompt.ts';
import type {
  TurnPlace,
  ContentReply,
  RecordedCall,
  Reply,
  ReplyFunction,
  ScriptRule,
  ScriptedToolCall,
} from '../../rehearsal/script.ts';
import { firstOfEach, listBlocks, textIn, unescapeText } from '../../rehearsal/rules/prompt.ts';
import type { RehearsalServer } from '../../rehearsal/server/server.ts';
import { work } from './scripted-work.ts';
import { storedText } from './stored-record.ts';
import type { TriadMember, TriadPhase, TriadPlan, TriadType } from '../../contracts/triad.ts';
import type { PhaseReport } from '../../contracts/triad-run.ts';

const seats: Readonly<Record<TriadType, readonly Pick<TriadMember, 'name' | 'role'>[]>> = {
  dialectic: [
    { name: 'proposer', role: 'proposer' },
    { name: 'critic', role: 'critic' },
    { name: 'synthesizer', role: 'synthesizer' },
  ],
  hierarchical: [
    { name: 'orchestrator', role: 'orchestrator' },
    { name: 'worker-1', role: 'worker' },
    { name: 'worker-2', role: 'worker' },
  ],
  consensus: [
    { name: 'peer-1', role: 'peer' },
    { name: 'peer-2', role: 'peer' },
    { name: 'peer-3', role: 'peer' },
  ],
};

/** Creates a triad of three researchers, named after their roles. */
export function triad(type: TriadType, over: Partial<TriadPlan> = {}): TriadPlan {
  return {
    type,
    reason: 'A test wants three members.',
    members: seats[type].map((seat) => ({ ...seat, agent_id: 'researcher' })),
    ...over,
  };
}

/** Creates a delegation that a triad does. Its sections are its criteria: `<id>-done` unless others are given. */
export function triadWork(
  id: string,
  type: TriadType,
  over: Parameters<typeof work>[1] = {},
): WrittenDelegation {
  return work(id, { triad: triad(type), ...over });
}

/** Creates a call of a state tool with arguments that fit its schema. For others, write the object directly. */
export function call<Name extends StateToolName>(
  name: Name,
  input: z.input<(typeof stateToolInputs)[Name]>,
): ScriptedToolCall {
  return { name, input };
}

interface MemberReply {
  /** Free Markdown. Default: empty, so that only the calls are sent. */
  readonly said?: string;
  readonly calls?: readonly ScriptedToolCall[];
}

/** Creates a member's message together with its calls on the records. */
export function memberReply({ said = '', calls = [] }: MemberReply): ContentReply {
  return { text: said, tool_use: calls };
}

/** Turn that a rule is for; an absent field matches any. */
export interface TurnMatch extends Partial<Pick<TurnPlace, 'member' | 'phase' | 'round'>> {
  /** Matches a whole part of the call key: a delegation's id, an agent's. */
  readonly within?: string;
  /** Matches only the nth call that fits, from 1: further calls of one turn count as well. */
  readonly nth?: number;
}

/** Creates the rule for a member's turn. Turns that no rule fits are taken by the rehearsal's own member. */
export function takes({ within, ...match }: TurnMatch, reply: Reply | ReplyFunction): ScriptRule {
  return {
    match: { ...match, ...(within !== undefined && { callKeyIncludes: `/${within}/` }) },
    reply,
  };
}

/** Member's call as received by the model. */
export interface MemberRequest extends MemberPrompt {
  /** Summary of the phase before; empty in the first. */
  readonly summary: string;
  /** Instruction of the orchestrator; empty if there is none. */
  readonly instruction: string;
  /** Messages of other members, with headings; empty if the member may read none. */
  readonly heard: string;
  /** Texts that other members' calls replaced; empty if none was returned. */
  readonly returned: string;
}

/** @throws when there was no such call, or it is no turn of a member. */
export function readMemberRequest(recorded: Pick<RecordedCall, 'body'> | undefined): MemberRequest {
  const request = requestOf(recorded);
  const member = readMember(request);
  if (member === null) throw new Error('The call is no turn of a member.');
  const first = firstOfEach(listBlocks(textIn(request.messages[0]?.blocks ?? [])));
  const turn = listTurns(request).at(-1)?.blocks ?? first;
  return {
    ...member,
    summary: textOf(first, 'phase_summary'),
    instruction: textOf(turn, 'instruction'),
    heard: textOf(turn, 'heard'),
    returned: textOf(turn, 'returned'),
  };
}

function textOf(blocks: ReadonlyMap<string, string>, name: string): string {
  return unescapeText(blocks.get(name) ?? '');
}

/** Returns the calls of members, in the order of arrival. */
export function memberCalls(
  { calls }: Pick<RehearsalServer, 'calls'>,
  { member, phase, round }: Omit<TurnMatch, 'nth' | 'within'> = {},
): readonly RecordedCall[] {
  return calls().filter(
    ({ turn }) =>
      turn !== null &&
      (member === undefined || turn.member === member) &&
      (phase === undefined || turn.phase === phase) &&
      (round === undefined || turn.round === round),
  );
}

/**
 * Lists the readers whose calls contained a text, as `phase member`, each once and sorted: a lane is kept when no other
 * reader is among them. The author has it from its next call on. A call of no member, such as one for code or a plan,
 * is listed by its call key.
 *
 * @param text letters, digits and `-`: other characters are escaped in one block or another.
 */
export function readersOf({ calls }: Pick<RehearsalServer, 'calls'>, text: string): string[] {
  const readers = calls()
    .filter(({ body }) => JSON.stringify(body).includes(text))
    .map(({ turn, callKey }) => (turn === null ? callKey : `${turn.phase} ${turn.member}`));
  return [...new Set(readers)].toSorted();
}

function requestOf(recorded: Pick<RecordedCall, 'body'> | undefined): MessagesRequest {
  const request = readMessagesRequest(JSON.stringify(recorded?.body ?? null), true);
  if (typeof request === 'string') throw new Error(`There was no such call: ${request}`);
  return request;
}

/** Decision of a member on a claim in a round. */
export type Decide = (claim: ShownClaim, round: number) => NegotiationDecision;

/** Text that a member adds to a proposal that it revises. */
export const revisionNote = 'And what speaks against it.';

/**
 * Creates the turn of a member that answers the claims it is asked about. Where there are none, the rehearsal takes the
 * turn.
 */
export function answers(decide: Decide): ReplyFunction {
  return (request) => {
    const { claims, duties, round, member } = readMemberRequest(request);
    const asked = claims.filter(({ claim_id }) => duties.answer.includes(claim_id));
    if (asked.length === 0) return { pass: true };
    const calls = asked.map((claim) => answerOf(claim, decide(claim, round), member));
    return memberReply({ said: `${member} has decided.`, calls });
  };
}

function answerOf(
  { claim_id, proposal }: ShownClaim,
  decision: NegotiationDecision,
  member: string,
): ScriptedToolCall {
  const reason = `${member} says ${decision} to ${claim_id}.`;
  const revised = decision === 'REVISE' && { revised_proposal: `${proposal}\n\n${revisionNote}` };
  return call('negotiate_response', { claim_id, decision, reason, ...revised });
}

/** Returns ids of the criteria of a delegation, and so of the sections of its triad: one for each peer. */
export function threeOf(id: string): readonly [string, string, string] {
  return [`${id}-a`, `${id}-b`, `${id}-c`];
}

/**
 * Returns the stored report of an attempt at a phase.
 *
 * @param attempt From 1. Default: the last one.
 * @throws when there was none.
 */
export async function phaseReport(
  home: string,
  { executor, delegation_id }: DelegationOutcome,
  phase: TriadPhase,
  attempt?: number,
): Promise<PhaseReport> {
  const done = executor.kind === 'triad' ? executor.work : null;
  const found = done?.phases.findLast(
    (one) => one.phase === phase && (attempt === undefined || one.attempt === attempt),
  );
  if (found === undefined) throw new Error(`${delegation_id} had no such ${phase}.`);
  const report: PhaseReport = JSON.parse(await storedText(home, found.report_ref));
  return report;
}
