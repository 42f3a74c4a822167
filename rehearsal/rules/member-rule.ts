import { textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { SharedWork } from './agent-rule.ts';
import { answerClaims, registerClaims, takenOf } from './claim-rule.ts';
import type { MemberPrompt } from './member-prompt.ts';
import type { Prompt } from './prompt.ts';
import { quote } from '../quote.ts';
import { finishSections, submitSummary } from './section-rule.ts';
import type { ContentReply, ScriptedToolCall } from '../script.ts';

/**
 * Builds an orchestrator's assignments: all workers with open work at once, in its first turn and when it has to. Other
 * turns assign nothing, so the phase comes to its end.
 */
function assignTurns(prompt: Prompt, member: MemberPrompt): readonly ScriptedToolCall[] {
  const isDue = member.turns === 1 || member.duties.assign;
  if (!isDue || !member.tools.includes('assign_turn')) return [];
  const assigned = takenOf(member, 'assign_turn', 'member');
  return member.team
    .filter(({ role, name }) => role === 'worker' && hasWork(member, name) && !assigned.has(name))
    .map(({ name }) => ({
      name: 'assign_turn',
      input: {
        member: name,
        instruction: `Rehearsal: do what ${member.phase} asks of you for ${quote(prompt.goal)}.`,
      },
    }));
}

function hasWork({ phase, sections, claims }: MemberPrompt, worker: string): boolean {
  if (phase === 'deliberate') return true;
  return (
    claims.some(({ agreed }) => !agreed.includes(worker)) ||
    sections.some(({ owner, status }) => owner === worker && status !== 'done')
  );
}

function describeCall({ name, input }: ScriptedToolCall): string {
  const { section_id, claim_id, decision, member, for_member }: JsonObject = Object(input);
  const about = [section_id, claim_id, decision, member, for_member].map(textOf).filter(Boolean);
  return `- ${[name, ...about].join(' ')}`;
}

function sayTurn(prompt: Prompt, member: MemberPrompt, calls: readonly ScriptedToolCall[]): string {
  const { role, phase, round } = member;
  return [
    `Rehearsal of the ${role} ${member.member} in ${phase}, round ${round}, for ${quote(prompt.goal)}. No model was called.`,
    '',
    ...(calls.length > 0 ? calls.map(describeCall) : ['- nothing to put into the records']),
    '',
  ].join('\n');
}

/** Plays a member's turn: a short text, and a call for each record that the turn still owes. */
export function takeTurn(prompt: Prompt, member: MemberPrompt): ContentReply {
  const records = [
    ...registerClaims(prompt, member),
    ...answerClaims(prompt, member),
    ...finishSections(prompt, member),
    ...assignTurns(prompt, member),
  ];
  const calls = [...records, ...submitSummary(member, records)];
  return {
    text: sayTurn(prompt, member, calls),
    ...(calls.length > 0 && { tool_use: calls }),
  };
}

/**
 * Describes a triad's sections for its output. A section without an owner or with a disputed output is not done: its
 * criteria stay unmet.
 */
export function describeWork(member: MemberPrompt): SharedWork {
  const disputed = new Set(member.claims.map(({ section_id }) => section_id));
  const unsettled = member.sections.filter(
    ({ owner, section_id }) => owner === null || disputed.has(section_id),
  );
  const done = member.sections.filter((section) => !unsettled.includes(section));
  return {
    label: 'Section',
    parts: done.map(({ section_id, owner, text }) => `${section_id} by ${owner}: ${text}`),
    unmet: new Map(
      unsettled.flatMap(({ section_id, criterion_ids }) =>
        criterion_ids.map((id) => [id, `Rehearsal: ${section_id} stayed disputed.`] as const),
      ),
    ),
    earlier: '',
  };
}
