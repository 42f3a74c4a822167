import { cutText } from '../text/cut-text.ts';

/** Maximum characters of each side of an edit that a question shows. */
const shownCharsMax = 400;

interface TextEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
}

type EditedText =
  | { readonly ok: true; readonly text: string; readonly count: number }
  | { readonly ok: false; readonly reason: string };

/**
 * Replaces one text by another in a file.
 *
 * Invariants:
 *   ED1. Without `replace_all`, the old text must occur exactly once; the refusal says how often it occurs.
 *   ED2. Every character outside of the replaced places stays as it is, a byte order mark too.
 *   ED3. In a file whose lines all end with CRLF, the texts may be given with LF, and the file keeps CRLF.
 *   ED4. A mark such as `[redacted:aws]` stands for a secret that was hidden from the agent. It never takes the place of
 *        the secret: no text is changed to one with a mark that it lacks.
 */
export function editText(
  text: string,
  { old_string, new_string, replace_all }: TextEdit,
): EditedText {
  if (old_string === '') return refuseEdit('old_string is empty. Try: write_file for a new file');
  if (old_string === new_string) return refuseEdit('old_string and new_string are the same');
  const [before, after] = hasOnlyCrlf(text)
    ? [toCrlf(old_string), toCrlf(new_string)]
    : [old_string, new_string];
  const pieces = text.split(before);
  const count = pieces.length - 1;
  if (count === 0) {
    const hidden = findHiddenSecret(text, old_string);
    if (hidden !== null) return { ok: false, reason: hidden };
    return refuseEdit(
      'old_string was not found (0 matches). Try: read_file, and copy the lines exactly, without their numbers',
    );
  }
  if (count > 1 && !replace_all) {
    return refuseEdit(
      `old_string has ${count} matches, but must have exactly one. Try: more lines around the place, or "replace_all":true`,
    );
  }
  const edited = pieces.join(after);
  const hidden = findHiddenSecret(text, edited);
  return hidden === null ? { ok: true, text: edited, count } : { ok: false, reason: hidden };
}

/** Returns why `text` must not become `next` (ED4), or null. */
export function findHiddenSecret(text: string, next: string): string | null {
  const mark = next.match(/\[redacted:[a-z0-9-]{1,60}\]/g)?.find((one) => !text.includes(one));
  return mark === undefined
    ? null
    : `The file does not contain ${mark}: this mark stands for a secret that planwave hid, and would replace it. ` +
        'Try: edit_file with only the lines around the secret.';
}

/** Describes an edit for the person who approves it, one line each. */
export function describeEdit({ old_string, new_string, replace_all }: TextEdit): string[] {
  return [
    replace_all ? 'It replaces everywhere:' : 'It replaces once:',
    ...signLines('-', old_string),
    ...signLines('+', new_string),
  ];
}

function signLines(sign: '-' | '+', text: string): string[] {
  return cutText(text, shownCharsMax)
    .split('\n')
    .map((line) => `${sign} ${line}`);
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

function refuseEdit(reason: string): EditedText {
  return { ok: false, reason: `${reason}.` };
}
