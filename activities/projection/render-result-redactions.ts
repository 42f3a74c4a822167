/** A mark, also where its brackets are escaped. */
const mark = /\[redacted:([a-z0-9-]{1,60})\\?\]/g;

/** How many marks of each rule are in the text, such as `2 × aws, 1 × github`. Empty when there is none. */
export function countRedactions(text: string): string {
  const counts = new Map<string, number>();
  for (const [, rule = ''] of text.matchAll(mark)) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const listed = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return listed.map(([rule, count]) => `${count} × ${rule}`).join(', ');
}

/**
 * What a reader has to know of marks in the text: that something stood there, and by which rule it was taken out.
 *
 * @returns no section when there is no mark.
 */
export function renderRedactions(text: string): string[] {
  const told = countRedactions(text);
  if (told === '') return [];
  return [
    `## Taken out\n\nWhat looked like a secret was taken out before it was sent or stored. In this file: ${told}.`,
  ];
}
