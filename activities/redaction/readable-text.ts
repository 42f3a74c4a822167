import type { ArrivedPiece } from '../ports/model-client.ts';
import { createJsonStrings } from './json-strings.ts';
import type { StringPart } from './json-strings.ts';

/** What people read of an agent's output. */
const outputFields: ReadonlySet<string> = new Set(['compact_md', 'detailed_md']);

/** What people read of a call: the task that a leader gives out. */
const callFields: ReadonlySet<string> = new Set(['task']);

/** Stands between two texts of one reply. */
const gap = '\n\n';

type Read = (piece: string) => readonly StringPart[];

/**
 * What people can read of a reply while it streams: free text as it is, of an output its two texts, of calls the tasks,
 * without the JSON around them. In the order in which they come, with an empty line between them.
 *
 * RX1. However the stream is cut into pieces, what the pieces bring is the same text when it is put together.
 *
 * @param isFree whether the reply is text and no JSON.
 * @returns what a piece brings; mostly a few characters, and nothing for much of a JSON.
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

/** Where JSON was asked for, a text that begins otherwise is what somebody says before its calls. */
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
