import type { ContentReply, ScriptedToolCall } from '../script.ts';
import { quote, textOf, type JsonObject } from '../messages-api.ts';
import type { SharedWork } from './agent-rule.ts';
import { answerClaims, askedOf, registerClaims, takenOf } from './claim-rule.ts';
import type { MemberPrompt, ShownSection } from './member-prompt.ts';
import type { Prompt } from './prompt.ts';
import { findCode } from './rehearsal-marks.ts';

function editSection(prompt: Prompt, section: ShownSection): ScriptedToolCall {
  const { section_id, version } = section;
  const text = `## ${section_id}\n\nA rule of the rehearsal model wrote this section for ${quote(prompt.goal)}. It began as ${quote(section.text, 200)}.\n`;
  return {
    name: 'edit_section',
    input: { section_id, base_version: version, text, status: 'done' },
  };
}

function generateCode({ section_id }: ShownSection): ScriptedToolCall {
  const instructions = `Rehearsal: a few lines that show where the code of ${section_id} goes.`;
  return { name: 'generate_code', input: { section_id, language: 'typescript', instructions } };
}

/** Builds the calls by which a member finishes the sections that its turn names. */
function finishSections(prompt: Prompt, member: MemberPrompt): readonly ScriptedToolCall[] {
  const done = new Set([
    ...takenOf(member, 'edit_section', 'section_id'),
    ...takenOf(member, 'generate_code', 'section_id'),
  ]);
  const writesCode = member.tools.includes('generate_code');
  const asCode = findCode(member.sections, askedOf(prompt));
  return member.sections
    .filter(({ section_id }) => member.duties.finish.includes(section_id) && !done.has(section_id))
    .map((section) =>
      writesCode && asCode.has(section.section_id)
        ? generateCode(section)
        : editSection(prompt, section),
    );
}

/** Records that a turn has made by its calls. */
interface Answers {
  /** section_ids that it claimed. */
  readonly claimed: ReadonlySet<string>;
  /** claim_ids that it agreed to, by CONCEDE. */
  readonly conceded: ReadonlySet<string>;
}

function readAnswers(calls: readonly ScriptedToolCall[]): Answers {
  const inputs = (tool: string): readonly JsonObject[] =>
    calls.filter(({ name }) => name === tool).map(({ input }) => Object(input));
  const answers = inputs('negotiate_response').filter((one) => one['decision'] === 'CONCEDE');
  return {
    claimed: new Set(inputs('register_claim').map((one) => textOf(one['section_id']))),
    conceded: new Set(answers.map((one) => textOf(one['claim_id']))),
  };
}

/**
 * Finds the owner of a section at the end of the turn: all negotiators have agreed to the claim. Null while it is open.
 */
function findOwner(
  { section_id, owner }: ShownSection,
  { claims, team, member }: MemberPrompt,
  { conceded }: Answers,
): string | null {
  const settled = claims.find(
    ({ section_id: claimed, claim_id, agreed }) =>
      claimed === section_id &&
      team.every(
        ({ name, role }) =>
          role === 'orchestrator' ||
          agreed.includes(name) ||
          (name === member && conceded.has(claim_id)),
      ),
  );
  return owner ?? settled?.member ?? null;
}

/** Describes the decision on a section at the end of the turn; null while it is an open question. */
function decideSection(
  section: ShownSection,
  member: MemberPrompt,
  answers: Answers,
): string | null {
  const owner = findOwner(section, member, answers);
  if (owner !== null) return `Rehearsal: ${section.section_id} is agreed, and ${owner} owns it.`;
  if (member.phase !== 'deliberate') return null;
  const claim = member.claims.find((one) => one.section_id === section.section_id);
  const claimant = claim?.member ?? (answers.claimed.has(section.section_id) && member.member);
  return claimant ? `Rehearsal: ${claimant} claims ${section.section_id}.` : null;
}

/** Returns true when the phase could still settle something after this turn. */
function goesOn(member: MemberPrompt, answers: Answers): boolean {
  if (member.phase !== 'negotiate' || member.round >= member.roundsMax) return false;
  const contested = new Set(member.claims.map((claim) => claim.section_id));
  return member.sections.some(
    (section) => contested.has(section.section_id) && findOwner(section, member, answers) === null,
  );
}

/**
 * Builds the summary of a phase, if the turn owes one and nothing is left to settle: every section is decided or an
 * open question.
 *
 * @param calls The member's other calls in this turn.
 */
function submitSummary(
  member: MemberPrompt,
  calls: readonly ScriptedToolCall[],
): readonly ScriptedToolCall[] {
  const answers = readAnswers([...member.taken, ...calls]);
  const isSubmitted = member.taken.some(({ name }) => name === 'submit_summary');
  if (!member.duties.summary || isSubmitted || goesOn(member, answers)) return [];
  const judged = member.sections.map((section) => ({
    section_id: section.section_id,
    decision: decideSection(section, member, answers),
  }));
  return [
    {
      name: 'submit_summary',
      input: {
        decisions: judged.filter(({ decision }) => decision !== null),
        open_questions: judged
          .filter(({ decision }) => decision === null)
          .map(({ section_id }) => ({
            section_id,
            question: `Rehearsal: whose ${section_id} is, and what it is to be, is not settled.`,
          })),
        artifacts: [{ section_id: null, artifact: 'Rehearsal: the spec as it stands.' }],
      },
    },
  ];
}

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
