import type { TeamSeat } from '../../contracts/team-run.ts';
import { taskId } from '../ids.ts';
import { describeRest, mayTake } from '../schedule/schedule.ts';
import { listNames } from '../text/list-names.ts';
import type { GivenCall, TeamState } from './team-state.ts';
import { hashText } from '../text/hash-text.ts';

/** A call of the leader before it is accepted or refused. */
export interface DraftCall {
  readonly given: GivenCall;
  readonly name: string;
  readonly delegation_id: string;
  /** Null when no member takes it. */
  readonly member: TeamSeat | null;
  /** Inputs that the leader named, resolved to ids. Unknown ones are left out. */
  readonly needs: readonly string[];
  readonly unknown_inputs: readonly string[];
  /** delegation_ids of other calls in the reply that its text mentions. */
  readonly mentions: readonly string[];
  readonly fingerprint: string;
  /** Reason of the refusal; null while nothing speaks against the call. */
  readonly refused: string | null;
}

/** Gives each call its name, its member and its inputs. Refuses only calls that no member can take. */
export function draftCalls(
  state: TeamState,
  calls: readonly GivenCall[],
  nowMs: number,
): DraftCall[] {
  const names = nameCalls(state, calls);
  const chosen = calls.map(({ call }) => chooseMember(state, call.member_id, nowMs));
  return calls.map((given, at): DraftCall => {
    const { call } = given;
    const choice = chosen[at];
    const member = choice?.type === 'chosen' ? choice.member : null;
    const resolved = call.inputs.map((input) => [input, resolve(state, names, input)] as const);
    const needs = [...new Set(resolved.flatMap(([, id]) => id ?? []))];
    return {
      given,
      name: names[at] ?? '',
      delegation_id: taskId(state.delegation_id, names[at] ?? ''),
      member,
      needs,
      unknown_inputs: resolved.flatMap(([input, id]) => (id === null ? [input] : [])),
      mentions: calls.flatMap((other, i) => {
        const isMeant = [other.call.name, other.call.member_id].some(
          (one) => one !== null && call.mentions.includes(one),
        );
        return i !== at && isMeant ? [taskId(state.delegation_id, names[i] ?? '')] : [];
      }),
      fingerprint: fingerprintTask(member?.executor_id ?? '', call.task_hash, needs),
      refused: choice?.type === 'refused' ? choice.reason : null,
    };
  });
}

/** Returns the leader's own names, and unused names `d1`, `d2` … for the others. */
function nameCalls({ tasks }: TeamState, calls: readonly GivenCall[]): string[] {
  const taken = new Set([
    ...tasks.entries.map(({ name }) => name),
    ...calls.flatMap(({ call }) => call.name ?? []),
  ]);
  let last = tasks.entries.length;
  return calls.map(({ call }) => {
    if (call.name !== null) return call.name;
    do last += 1;
    while (taken.has(`d${last}`));
    return `d${last}`;
  });
}

/** @returns the delegation_id of an input; null when it names no result. */
function resolve(
  { delegation_id, tasks, upstream }: TeamState,
  names: readonly string[],
  input: string,
): string | null {
  if (upstream.includes(input)) return input;
  const known = [...tasks.entries.map(({ name }) => name), ...names];
  const name = known.find((one) => one === input || taskId(delegation_id, one) === input);
  return name === undefined ? null : taskId(delegation_id, name);
}

/**
 * Chooses the member for a task (seed 002, cases 2.1 and 2.2; priority).
 *
 * Invariants:
 *   CHM1. A member's id selects that member, even if a capability has the same name.
 *   CHM2. A capability selects the enabled member that has it, may take tasks, and has the highest priority; the first
 *         of equals.
 *   CHM3. A refusal names a member that could take the task instead, or all members.
 */

type ChosenMember =
  | { readonly type: 'chosen'; readonly member: TeamSeat }
  | { readonly type: 'refused'; readonly reason: string };

/** @param wanted Text of the leader's call. @param nowMs Milliseconds of work. */
export function chooseMember(state: TeamState, wanted: string, nowMs: number): ChosenMember {
  const { members } = state.setup;
  const named = members.find(({ member_id }) => member_id === wanted);
  if (named !== undefined) return takeNamed(state, named, nowMs);
  const able = members.filter(({ capabilities }) => capabilities.includes(wanted));
  if (able.length === 0)
    return refuse(`there is no member "${wanted}". Members: ${listAble(state)}`);
  const best = pickBest(able.filter((member) => isFree(state, member, nowMs)));
  if (best !== null) return { type: 'chosen', member: best };
  return refuse(
    `nobody with the capability "${wanted}" takes tasks now: ${able.map((one) => whyNot(state, one)).join('; ')}`,
  );
}

function takeNamed(state: TeamState, member: TeamSeat, nowMs: number): ChosenMember {
  if (isFree(state, member, nowMs)) return { type: 'chosen', member };
  const others = state.setup.members.filter(
    (other) =>
      other !== member &&
      isFree(state, other, nowMs) &&
      other.capabilities.some((one) => member.capabilities.includes(one)),
  );
  const best = pickBest(others);
  const cure =
    best === null
      ? `Members that take tasks: ${listNames(freeMembers(state, nowMs))}`
      : `Try: "${best.member_id}", which can do the same`;
  return refuse(`${whyNot(state, member)}. ${cure}`);
}

function isFree({ tasks }: TeamState, { member_id, enabled }: TeamSeat, nowMs: number): boolean {
  return enabled && mayTake(tasks, member_id, nowMs);
}

function pickBest(members: readonly TeamSeat[]): TeamSeat | null {
  return members.reduce<TeamSeat | null>(
    (best, one) => (best === null || one.priority > best.priority ? one : best),
    null,
  );
}

function whyNot({ tasks }: TeamState, { member_id, enabled }: TeamSeat): string {
  return enabled ? describeRest(tasks, member_id) : `"${member_id}" is disabled`;
}

function freeMembers(state: TeamState, nowMs: number): string[] {
  return state.setup.members
    .filter((member) => isFree(state, member, nowMs))
    .map(({ member_id }) => member_id);
}

function listAble({ setup }: TeamState): string {
  return listNames(
    setup.members.filter(({ enabled }) => enabled).map(({ member_id }) => member_id),
  );
}

function refuse(reason: string): ChosenMember {
  return { type: 'refused', reason };
}

/**
 * Finds other tasks of the same reply that a task's text mentions: its leader may mean their results. This is a hint
 * for the order of tasks, so a false one costs time and changes nothing else.
 *
 * Invariants:
 *   FM1. A name is mentioned where it occurs as whole words, in any case, white space or Unicode variant. A part of a
 *        longer word or id is no mention.
 *   FM2. The task's own name and its member are no mentions: the text speaks to them.
 *   FM3. Mentions are in the order of the names, each once, at most `mentionsMax`.
 */

/** Most mentions, equal to the most inputs of a task. */
export const mentionsMax = 20;

/** A task as its leader defined it. */
interface NamedTask {
  readonly member_id: string;
  /** Null when the leader gave it none. */
  readonly name: string | null;
}

/** Characters of ids, so that `draft` is not mentioned in `draft-2`. */
const wordCharacter = /[\p{L}\p{N}\p{M}_-]/u;

/**
 * @param task Text of the task.
 * @param own Its member and its name.
 * @param others The other tasks of the reply, in their order.
 * @returns names and member ids of the others that the text mentions, spelled as given.
 */
export function findMentions(
  task: string,
  own: NamedTask,
  others: readonly NamedTask[],
): readonly string[] {
  const ownNames = new Set(namesOf(own).map(evenOut));
  const text = evenOut(task);
  const seen = new Set<string>();
  const mentioned = others.flatMap(namesOf).filter((name) => {
    const even = evenOut(name);
    if (even === '' || ownNames.has(even) || seen.has(even)) return false;
    seen.add(even);
    return standsIn(text, even);
  });
  return mentioned.slice(0, mentionsMax);
}

function namesOf({ member_id, name }: NamedTask): string[] {
  return name === null ? [member_id] : [name, member_id];
}

function evenOut(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll(/\s+/gu, ' ').trim();
}

function standsIn(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (!continues(text, at - 1, -1) && !continues(text, at + name.length, 1)) return true;
  }
  return false;
}

/** Returns true when a word continues at this place. A dot joins two words of an id, but also ends a sentence. */
function continues(text: string, at: number, step: 1 | -1): boolean {
  const next = text.charAt(at);
  if (next === '.') return wordCharacter.test(text.charAt(at + step));
  return wordCharacter.test(next);
}

/**
 * Fingerprints a task of a leader, so that a repetition is recognised (seed 002, case 10.2).
 *
 * Invariants:
 *   FT1. Executor, text and inputs change it; the order and repetition of inputs do not.
 *   HT1. Case, white space, punctuation at its two ends and Unicode's twins of a character do not change a task's hash;
 *        everything else does.
 */

/** @param inputs delegation_ids whose results the task gets. */
export function fingerprintTask(
  executor: string,
  taskHash: string,
  inputs: readonly string[],
): string {
  return hashText(JSON.stringify([executor, taskHash, [...new Set(inputs)].toSorted()]));
}

const edge = /[\p{P}\s]/u;

/** @returns 16 hex digits. */
export function hashTask(task: string): string {
  const even = task.normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll(/\s+/gu, ' ');
  // A task of punctuation alone is still a task of its own.
  return hashText(trimEdges(even) || even.trim());
}

/** Trims by hand: an expression for the end of a text looks at every run of punctuation within it, from each of its places. */
function trimEdges(text: string): string {
  const characters = Array.from(text);
  const first = characters.findIndex(isInner);
  return first === -1
    ? ''
    : characters.slice(first, characters.findLastIndex(isInner) + 1).join('');
}

function isInner(character: string): boolean {
  return !edge.test(character);
}
