import type { ScriptedToolCall } from '../script.ts';
import { dropHalfPair, quote, textOf, type JsonObject } from '../messages-api.ts';
import type { MemberPrompt, ShownClaim } from './member-prompt.ts';
import type { Prompt } from './prompt.ts';
import { findDisputed, findLater } from './rehearsal-marks.ts';

/** UTF-16 units of a revised proposal that are kept: the revision adds to them. */
const proposalLengthMax = 18_000;

/** Returns the request, which may contain marks. */
export function askedOf(prompt: Prompt): string {
  return `${prompt.goal}\n${textOf(prompt.delegation['task_description'])}`;
}

/** Collects one argument of this turn's calls to one tool. */
export function takenOf(member: MemberPrompt, tool: string, argument: string): ReadonlySet<string> {
  const calls = member.taken.filter(({ name }) => name === tool);
  return new Set(calls.map(({ input }) => textOf(input[argument])));
}

/** Assigns the sections to peers by their places, so that together they claim all. */
function isShare({ role, team, member }: MemberPrompt, place: number): boolean {
  return role === 'peer' && team[place % team.length]?.name === member;
}

/**
 * Chooses the sections to claim now: those that the turn names, a peer's share of the free ones, and more when that is
 * too few.
 */
function chooseSections(member: MemberPrompt): readonly string[] {
  const { sections, duties } = member;
  const claimed = takenOf(member, 'register_claim', 'section_id');
  const contested = new Set(member.claims.map((claim) => claim.section_id));
  const free = sections.filter(
    ({ section_id, owner }) => owner === null && !contested.has(section_id),
  );
  const share = free.filter((section) => isShare(member, sections.indexOf(section)));
  const wanted = new Set([...duties.claim, ...share.map(({ section_id }) => section_id)]);
  const others = new Set([...free, ...sections].map(({ section_id }) => section_id));
  const missing = Math.max(0, duties.claimsMin - wanted.size);
  const more = [...others].filter((id) => !wanted.has(id)).slice(0, missing);
  return [...wanted, ...more].filter((id) => !claimed.has(id));
}

/** Builds the claims of a member. An orchestrator assigns the sections to its workers in turn. */
export function registerClaims(prompt: Prompt, member: MemberPrompt): readonly ScriptedToolCall[] {
  if (!member.tools.includes('register_claim')) return [];
  const places = member.sections.map(({ section_id }) => section_id);
  const workers =
    member.role === 'orchestrator'
      ? member.team.filter(({ role }) => role === 'worker').map(({ name }) => name)
      : [];
  const later = findLater(member.sections, askedOf(prompt));
  return chooseSections(member).map((section_id) => ({
    name: 'register_claim',
    input: {
      section_id,
      proposal: `A rehearsed proposal for ${section_id}: say in one paragraph what ${quote(prompt.goal)} needs here.`,
      ...(later.has(section_id) && { write_later: true }),
      ...(workers.length > 0 && {
        for_member: workers[Math.max(0, places.indexOf(section_id)) % workers.length],
      }),
    },
  }));
}

/** Chooses the member that never agrees to a disputed claim: the critic, or the last member other than its author. */
function chooseDissenter(member: MemberPrompt, claim: ShownClaim): string | undefined {
  const others = member.team.filter(
    ({ name, role }) => role !== 'orchestrator' && name !== claim.member,
  );
  return (others.find(({ role }) => role === 'critic') ?? others.at(-1))?.name;
}

/** Returns the reason why this member does not agree to a claim; null when it does. */
function findObjection(member: MemberPrompt, claim: ShownClaim, asked: string): string | null {
  const rival = member.claims.find((one) => one.section_id === claim.section_id);
  if (rival !== undefined && rival.claim_id !== claim.claim_id) {
    return `Rehearsal: ${rival.claim_id} is the claim on ${claim.section_id} that came first.`;
  }
  if (!findDisputed(member.sections, asked).has(claim.section_id)) return null;
  if (chooseDissenter(member, claim) !== member.member) return null;
  return `Rehearsal: the mark on ${claim.section_id} asks for a dispute, so I never agree to ${claim.claim_id}.`;
}

function concede({ claim_id, revision }: ShownClaim): JsonObject {
  const reason = `Rehearsal: a rule agrees to revision ${revision} of ${claim_id}.`;
  return { claim_id, decision: 'CONCEDE', reason };
}

function revise({ claim_id, proposal }: ShownClaim, member: MemberPrompt): JsonObject {
  const kept = dropHalfPair(proposal.slice(0, proposalLengthMax));
  return {
    claim_id,
    decision: 'REVISE',
    reason: `Rehearsal: the first claim of a negotiation is revised once, to show how it is done.`,
    revised_proposal: `${kept}\n\nRehearsal, revised by ${member.member}: and say what speaks against it.`,
  };
}

/**
 * Answers the claims that a member is asked about. Objections come first: a claim that is agreed to may settle, and its
 * rivals then leave the negotiation.
 */
export function answerClaims(prompt: Prompt, member: MemberPrompt): readonly ScriptedToolCall[] {
  const asked = askedOf(prompt);
  const judged = member.duties.answer.flatMap((id) => {
    const claim = member.claims.find(({ claim_id }) => claim_id === id);
    return claim === undefined ? [] : [{ claim, reason: findObjection(member, claim, asked) }];
  });
  const agreed = judged.filter(({ reason }) => reason === null).map(({ claim }) => claim);
  const revised = member.role === 'critic' && member.round === 1 ? agreed[0] : undefined;
  const answers = [
    ...judged.flatMap(({ claim: { claim_id }, reason }) =>
      reason === null ? [] : [{ claim_id, decision: 'HOLD', reason }],
    ),
    ...agreed.map((claim) => (claim === revised ? revise(claim, member) : concede(claim))),
  ];
  const answered = takenOf(member, 'negotiate_response', 'claim_id');
  return answers
    .filter(({ claim_id }) => !answered.has(textOf(claim_id)))
    .map((input) => ({ name: 'negotiate_response', input }));
}
