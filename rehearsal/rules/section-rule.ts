import { textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';
import { askedOf, takenOf } from './claim-rule.ts';
import type { MemberPrompt, ShownSection } from './member-prompt.ts';
import type { Prompt } from './prompt.ts';
import { quote } from '../quote.ts';
import { findCode } from './rehearsal-marks.ts';
import type { ScriptedToolCall } from '../script.ts';

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
export function finishSections(prompt: Prompt, member: MemberPrompt): readonly ScriptedToolCall[] {
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
export function submitSummary(
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
