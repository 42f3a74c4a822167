/**
 * Replaces one text by another in a file.
 *
 * Invariants:
 *   ED1. Without `replace_all`, the old text must occur exactly once; the refusal says how often it occurs.
 *   ED2. Every character outside of the replaced places stays as it is, a byte order mark too.
 *   ED3. In a file whose lines all end with CRLF, the texts may be given with LF, and the file keeps CRLF.
 */
export interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
}

export type EditedText =
  | { readonly ok: true; readonly text: string; readonly count: number }
  | { readonly ok: false; readonly reason: string };

export function editText(
  text: string,
  { old_string, new_string, replace_all }: TextEdit,
): EditedText {
  if (old_string === '') return refuse('old_string is empty. Try: write_file for a new file');
  if (old_string === new_string) return refuse('old_string and new_string are the same');
  const [before, after] = hasOnlyCrlf(text)
    ? [toCrlf(old_string), toCrlf(new_string)]
    : [old_string, new_string];
  const pieces = text.split(before);
  const count = pieces.length - 1;
  if (count === 0) {
    return refuse(
      'old_string was not found (0 matches). Try: read_file, and copy the lines exactly, without their numbers',
    );
  }
  if (count > 1 && !replace_all) {
    return refuse(
      `old_string has ${count} matches, but must have exactly one. Try: more lines around the place, or "replace_all":true`,
    );
  }
  return { ok: true, text: pieces.join(after), count };
}

function hasOnlyCrlf(text: string): boolean {
  return (
    text.includes('\r\n') &&
    text
      .split('\n')
      .slice(0, -1)
      .every((line) => line.endsWith('\r'))
  );
}

function toCrlf(text: string): string {
  return text.split('\r\n').join('\n').split('\n').join('\r\n');
}

function refuse(reason: string): EditedText {
  return { ok: false, reason: `${reason}.` };
}
