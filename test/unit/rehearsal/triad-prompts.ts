import type { TurnBrief } from '../../../contracts/member-turn.ts';

/** What a turn shows besides its brief. */
export interface TurnTexts {
  readonly goal: string;
  readonly delegation: unknown;
  /** The text of a reference, or of a section as the plan gives it. */
  readonly read: (ref: string) => string;
}

/** The first message of a member in a phase, in the layout of planwave's prompts. */
export function memberPrompt(brief: TurnBrief, texts: TurnTexts): string {
  const { type, phase, member, team, rounds_max } = brief;
  const { name, role, lens = null } = member;
  return [
    '<request kind="member">\nTake your turn. What you owe stands in <your_turn>.\n</request>',
    `<goal>\n${texts.goal}\n</goal>`,
    '<role agent_id="researcher">\nYou find out.\n</role>',
    block('triad', { type, phase, member: name, role, lens, team, rounds_max }),
    block('allowed_tools', brief.tools),
    block('delegation', texts.delegation),
    ...(brief.summary_ref === null
      ? []
      : [mark(`<phase_summary>\n${texts.read(brief.summary_ref)}\n</phase_summary>`)]),
    turnBlocks(brief, texts),
  ].join('\n\n');
}

/** What a later turn adds, and a first one ends with. */
export function turnBlocks(brief: TurnBrief, { read }: TurnTexts): string {
  const { round, rounds_max, duties, spec, heard, returned, instruction_ref } = brief;
  const said = heard.map((one) => `# ${one.member}, round ${one.round}\n${read(one.said_ref)}`);
  const sections = spec.sections.map(({ section_id, owner, status, version, text_ref }) => ({
    section_id,
    owner,
    status,
    version,
    text: read(text_ref ?? section_id),
  }));
  const claims = spec.claims
    .filter(({ state }) => state === 'open')
    .map(({ proposal_ref, responses, ...claim }) => ({
      ...claim,
      proposal: read(proposal_ref),
      responses: responses.map(({ reason_ref, ...one }) => ({ ...one, reason: read(reason_ref) })),
    }));
  const fromOthers = [
    ...(said.length > 0
      ? [`<heard>\n${said.join('\n\n').replaceAll('</', '&lt;/')}\n</heard>`]
      : []),
    ...(returned.length > 0 ? [block('returned', returned)] : []),
    block('spec', sections),
    ...(claims.length > 0 ? [block('claims', claims)] : []),
  ];
  return [
    block('your_turn', { round, rounds_max, duties }),
    ...(instruction_ref === null
      ? []
      : [mark(`<instruction>\n${read(instruction_ref)}\n</instruction>`)]),
    mark(fromOthers.join('\n\n')),
  ].join('\n\n');
}

export function codePrompt(sectionId: string): string {
  return `<request kind="code">\nWrite the code.\n</request>\n\n${block('section', { section_id: sectionId })}`;
}

const mark = (text: string): string => `<data marker="abc123">\n${text}\n</data marker="abc123">`;
const block = (name: string, value: unknown): string =>
  `<${name}>${JSON.stringify(value).replaceAll('<', '\\u003c')}</${name}>`;
