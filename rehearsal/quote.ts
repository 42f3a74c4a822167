/** `text` without a high surrogate that lost its other half to a cut at the end. */
export function dropHalfPair(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/u, '');
}

/** One line of at most `lengthMax` UTF-16 units; a cut is marked with `…` and never splits a surrogate pair. */
export function cutText(text: string, lengthMax: number): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  return line.length <= lengthMax ? line : `${dropHalfPair(line.slice(0, lengthMax - 1))}…`;
}

/** `text` in quotation marks, cut to `lengthMax` UTF-16 units without them. Default 80. */
export function quote(text: string, lengthMax = 80): string {
  return `“${cutText(text, lengthMax)}”`;
}

/** A name for ids: lower-case letters, digits, `-` and `_`, at most `lengthMax` characters, never empty. */
export function slugOf(text: string, lengthMax = 40): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/gu, '-')
    .replace(/^[-_]+/u, '')
    .slice(0, lengthMax)
    .replace(/(?<!-)-+$/u, '');
  return slug === '' ? 'rehearsal' : slug;
}
