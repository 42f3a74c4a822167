/**
 * Which other tasks of the same reply a task speaks of: its leader may mean their results. A hint for the order in which
 * they are done, so a false one costs time and changes nothing else.
 *
 * Invariants:
 *   FM1. A name is mentioned where it stands as whole words, however it is spelled in case, white space and Unicode's
 *        twins of a character. A part of a longer word or id is no mention.
 *   FM2. What names the task itself or who does it is no mention: it speaks to them.
 *   FM3. Mentions come in the order of the names, each once, at most `mentionsMax`.
 */

/** As many as a task may name inputs. */
export const mentionsMax = 20;

/** A task as its leader gave it out. */
export interface NamedTask {
  readonly member_id: string;
  /** Null: the leader gave it none. */
  readonly name: string | null;
}

/** Ids are made of these: `draft` is not mentioned in `draft-2`. */
const wordCharacter = /[\p{L}\p{N}\p{M}_-]/u;

/**
 * @param task what is to be done.
 * @param own who is to do it, and its name.
 * @param others the other tasks of the reply, in their order.
 * @returns names and member ids of the others that the task speaks of, as they were written.
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

/** Whether a word goes on at this place. A dot joins two words of an id and ends a sentence. */
function continues(text: string, at: number, step: 1 | -1): boolean {
  const next = text.charAt(at);
  if (next === '.') return wordCharacter.test(text.charAt(at + step));
  return wordCharacter.test(next);
}
