import type { ArrivedPiece } from '../ports/model-client.ts';
import { createJsonStrings } from './json-strings.ts';
import type { StringPart } from './json-strings.ts';

/** Fields of an agent's output that people read. */
const outputFields: ReadonlySet<string> = new Set(['compact_md', 'detailed_md']);

/** Fields of a call that people read: the task that a leader creates. */
const callFields: ReadonlySet<string> = new Set(['task']);

/** Separates two texts of one reply. */
const gap = '\n\n';

type Read = (piece: string) => readonly StringPart[];

/**
 * Extracts the readable text of a reply while it streams: free text, the two texts of an output, and the tasks of
 * calls, without the JSON around them. They stay in order, with an empty line in between.
 *
 * RX1. However the stream is cut into pieces, the results of the pieces joined are the same text.
 *
 * @param isFree True when the reply is text and not JSON.
 * @returns the text of a piece; usually a few characters, and nothing for most of the JSON.
 */
export function createReadableText(isFree: boolean): (piece: ArrivedPiece) => string {
  const readers = new Map<number, Read>();
  let last = '';
  return ({ block, kind, text }) => {
    let read = readers.get(block);
    if (read === undefined) {
      read = kind === 'arguments' ? createJsonStrings(callFields) : readText(isFree);
      readers.set(block, read);
    }
    return read(text)
      .map((part) => {
        const place = `${block}.${part.string}`;
        const isNew = last !== '' && last !== place;
        last = place;
        return isNew ? gap + part.text : part.text;
      })
      .join('');
  };
}

/** Creates a reader of text. Where JSON was requested, a text that begins differently is said before calls. */
function readText(isFree: boolean): Read {
  let read: Read | null = isFree ? readAll : null;
  return (piece) => {
    const text = read === null ? piece.trimStart() : piece;
    if (text === '') return [];
    read ??= /^[{`]/.test(text) ? createJsonStrings(outputFields) : readAll;
    return read(text);
  };
}

function readAll(text: string): readonly StringPart[] {
  return text === '' ? [] : [{ string: 0, text }];
}
