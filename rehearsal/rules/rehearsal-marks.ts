import { quote } from '../messages-api.ts';

/** Mark in a task description: the agent asks the user before it completes. */
export const askMark = 'Ask the user who the result is for.';

/** Short form of the mark, for the message of a team or the task of a delegation. */
const askShort = '[ask]';

export function asksForQuestion(task: string): boolean {
  return task.includes(askMark) || task.includes(askShort);
}

/**
 * Mark in a task description: the agent's first report lacks a criterion, and is repaired when the check refuses it.
 */
export const slipMark = 'Report on every criterion, and repair the report when a check refuses it.';

const audienceStart = 'Who is the result of';

/** Returns the one question of a rehearsed run, in the shape of an asked question. */
export function audienceQuestion(goal: string): {
  readonly text: string;
  readonly choices: readonly string[];
  readonly defaultAnswer: string;
} {
  const choices = ['the person who decides', 'the team that builds it', 'everybody'];
  return {
    text: `${audienceStart} ${quote(goal)} for?`,
    choices,
    defaultAnswer: 'the person who decides',
  };
}

/** Returns true for the question above, for any goal. */
export function isAudienceQuestion(text: string): boolean {
  return text.startsWith(audienceStart);
}

/**
 * Mark in the goal, the task or a section: one member never agrees to the claim on the section, so it stays disputed.
 */
const disagreeMark = '[disagree]';

/** Mark in the goal, the task or a section: the section is written by `generate_code`. */
const codeMark = '[code]';

/** Mark in the goal, the task or a section: the proposal is a plan, and the section is written once that is agreed. */
const laterMark = '[later]';

/** Mark in the goal: one delegation of the first wave is done by a triad, a dialectic one when no type is named. */
const triadMark = /\[triad(?::(dialectic|hierarchical|consensus))?\]/u;

/** Returns the type of triad that a goal asks for; null for none. */
export function readTriadMark(goal: string): string | null {
  const found = triadMark.exec(goal);
  return found === null ? null : (found[1] ?? 'dialectic');
}

/** Mark in the message or the goal: the leader of a team answers itself, and creates no task. */
const directMark = '[direct]';

export function asksForDirectAnswer(asked: string): boolean {
  return asked.includes(directMark);
}

/** Mark in the goal: one delegation of the first wave is done by a team; `[team:<team_id>]` names it. */
const teamMark = /\[team(?::([a-z0-9][a-z0-9_-]*))?\]/u;

/** Returns the team that a goal asks for: its name, or null for members of the planner's choice. Undefined for none. */
export function readTeamMark(goal: string): string | null | undefined {
  const found = teamMark.exec(goal);
  return found === null ? undefined : (found[1] ?? null);
}

interface MarkedText {
  readonly section_id: string;
  readonly text: string;
}

/**
 * Finds sections that stay disputed. A mark in goal or task means the last one: the others show an agreement.
 *
 * @param asked Goal and task.
 */
export function findDisputed(sections: readonly MarkedText[], asked: string): ReadonlySet<string> {
  return findMarked(sections, disagreeMark, asked.includes(disagreeMark) ? sections.at(-1) : null);
}

/** Finds sections that are written as code. A mark in goal or task means the first one. */
export function findCode(sections: readonly MarkedText[], asked: string): ReadonlySet<string> {
  return findMarked(sections, codeMark, asked.includes(codeMark) ? sections[0] : null);
}

/**
 * Finds sections that are written after their proposals are agreed: code, marked ones, or all for a mark in goal or
 * task.
 */
export function findLater(sections: readonly MarkedText[], asked: string): ReadonlySet<string> {
  if (asked.includes(laterMark)) return new Set(sections.map(({ section_id }) => section_id));
  return new Set([...findMarked(sections, laterMark, null), ...findCode(sections, asked)]);
}

function findMarked(
  sections: readonly MarkedText[],
  mark: string,
  meant: MarkedText | null | undefined,
): ReadonlySet<string> {
  const marked = sections.filter(({ text }) => text.includes(mark));
  return new Set([...marked, ...(meant ? [meant] : [])].map(({ section_id }) => section_id));
}

/** Marks in the goal of a design, or in a change of it that the user asks for. */
export interface DesignMarks {
  /** `[new-agent]`: the roster asks for an agent that no file describes. */
  readonly needsNewAgent: boolean;
  /** `[no-new-agent]`: it is not needed any more. */
  readonly dropsNewAgent: boolean;
  /** `[flawed]`: the verifier has a finding until the designer answered it. */
  readonly hasFinding: boolean;
  /** `[unmended]`: the verifier has a finding, and the designer never answers it. */
  readonly neverMends: boolean;
  /** Its proofs of concept fail. */
  readonly proofFails: boolean;
  /** The user has to decide what follows from that. */
  readonly proofEscalates: boolean;
}

export function readDesignMarks(goal: string): DesignMarks {
  return {
    needsNewAgent: goal.includes('[new-agent]'),
    dropsNewAgent: goal.includes('[no-new-agent]'),
    hasFinding: goal.includes('[flawed]'),
    neverMends: goal.includes('[unmended]'),
    proofFails: goal.includes('[failed-proof]') || goal.includes('[escalated-proof]'),
    proofEscalates: goal.includes('[escalated-proof]'),
  };
}

/** Line in an output that was made again after a failed verification. */
export const mendedLine = 'Rehearsal: mended after a failed verification.';

/** Mark in a task: its first output fails its verification. */
export function failsOnce(task: string): boolean {
  return task.includes('[failing]');
}

/** Mark in a task: no output passes a verification. */
export function failsAlways(task: string): boolean {
  return task.includes('[unverifiable]');
}
