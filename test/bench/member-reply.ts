import { firstOfEach, listBlocks } from '../../rehearsal/rules/prompt.ts';
import type { ContentReply, ScriptedToolCall } from '../../rehearsal/script.ts';
import { composeText } from './bench-job.ts';
import type { Duties } from '../../contracts/state-call.ts';

/** Open claim as a member's turn shows it. */
interface OpenClaim {
  readonly claim_id: string;
  readonly revision: number;
}

/** Section as a member's turn shows it. */
interface ShownSection {
  readonly section_id: string;
  readonly version: number;
}

interface Turn {
  readonly duties: Duties;
  readonly claims: readonly OpenClaim[];
  readonly spec: readonly ShownSection[];
}

/**
 * Composes a triad member's reply: a text, and by tool calls whatever its turn owes. The first member that answers a
 * claim revises it and the others concede, so that every negotiation settles in its first round, and not at once.
 * Everything is read from the turn's own blocks: the same call has the same answer.
 *
 * @param newest the newest message of the conversation.
 * @param length characters of all texts of the reply together.
 * @throws when that message is no turn: the engine asks for something that nobody owes.
 */
export function composeMemberReply(newest: string, seed: string, length: number): ContentReply {
  const turn = readTurn(newest);
  const texts = 1 + countCalls(turn.duties);
  const say = (what: string): string => composeText(`${seed}/${what}`, Math.ceil(length / texts));
  return { text: say('text'), tool_use: composeCalls(turn, say) };
}

/** Whether the turn gives the output of the whole delegation, which is no member's reply any more. */
export function owesOutput(newest: string): boolean {
  return readTurn(newest).duties.output;
}

function countCalls({ claim, answer, finish, summary }: Duties): number {
  return claim.length + answer.length + finish.length + Number(summary);
}

function composeCalls(
  { duties, claims, spec }: Turn,
  say: (what: string) => string,
): ScriptedToolCall[] {
  return [
    ...duties.claim.map((section_id) => ({
      name: 'register_claim',
      // So that each phase has its three turns.
      input: { section_id, proposal: say(section_id), write_later: true },
    })),
    ...duties.answer.map((claim_id) => {
      const isRevised = (claims.find((claim) => claim.claim_id === claim_id)?.revision ?? 1) > 1;
      return { name: 'negotiate_response', input: answerTo(claim_id, isRevised, say(claim_id)) };
    }),
    ...duties.finish.map((section_id) => ({
      name: 'edit_section',
      input: {
        section_id,
        base_version: spec.find((section) => section.section_id === section_id)?.version ?? 1,
        text: say(section_id),
        status: 'done',
      },
    })),
    ...(duties.summary ? [{ name: 'submit_summary', input: summaryOf(spec, say('summary')) }] : []),
  ];
}

function answerTo(claim_id: string, isRevised: boolean, text: string): unknown {
  if (isRevised) return { claim_id, decision: 'CONCEDE', reason: text };
  return { claim_id, decision: 'REVISE', reason: 'It is not enough.', revised_proposal: text };
}

function summaryOf(spec: readonly ShownSection[], text: string): unknown {
  return {
    decisions: spec.map(({ section_id }) => ({ section_id, decision: text })),
    open_questions: [],
    artifacts: [],
  };
}

function readTurn(text: string): Turn {
  const blocks = firstOfEach(listBlocks(text));
  const turn = blocks.get('your_turn');
  if (turn === undefined) throw new Error(`This is no member's turn: ${text.slice(0, 2_000)}`);
  const { duties }: Pick<Turn, 'duties'> = JSON.parse(turn);
  const claims: Turn['claims'] = JSON.parse(blocks.get('claims') ?? '[]');
  const spec: Turn['spec'] = JSON.parse(blocks.get('spec') ?? '[]');
  return { duties, claims, spec };
}
