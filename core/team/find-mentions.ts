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
export interface NamedTask {
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
