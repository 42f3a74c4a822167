/** A mark, also where its brackets are escaped. */
const mark = /\[redacted:([a-z0-9-]{1,60})\\?\]/g;

/**
 * What a reader has to know of marks in the text: that something stood there, and by which rule it was taken out.
 *
 * @returns no section when there is no mark.
 */
export function renderRedactions(text: string): string[] {
  const counts = new Map<string, number>();
  for (const [, rule = ''] of text.matchAll(mark)) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  if (counts.size === 0) return [];
  const listed = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const told = listed.map(([rule, count]) => `${count} × ${rule}`).join(', ');
  return [
    `## Taken out\n\nWhat looked like a secret was taken out before it was sent or stored. In this file: ${told}.`,
  ];
}
