import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plantedPieces } from './planted.ts';

/**
 * Finds planted secrets: in names and values, in bytes as text, in Base64 and in hexadecimal.
 *
 * @param where description of the value.
 * @returns one line for each place and secret, which names the secret by its first letters.
 */
export function findPlanted(where: string, what: unknown): string[] {
  const texts = [...textsOf(what)];
  return plantedPieces.flatMap((piece) => {
    const spellings = [
      piece,
      Buffer.from(piece).toString('hex'),
      // Without the ends, which depend on the surrounding bytes.
      Buffer.from(piece).toString('base64').slice(0, -4),
    ];
    return texts.some((text) => spellings.some((spelling) => text.includes(spelling)))
      ? [`${where}: ${piece.slice(0, 8)}…`]
      : [];
  });
}

/** Works like `findPlanted`, but searches the names and bytes of all files below a folder. */
export function findPlantedInFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return findPlanted(path, [entry.name, entry.isFile() ? readFileSync(path) : '']);
  });
}

/** Yields every text of a value; bytes are taken as UTF-8. */
export function* textsOf(value: unknown): Iterable<string> {
  if (typeof value === 'string') yield value;
  else if (value instanceof Uint8Array) yield Buffer.from(value).toString('utf8');
  else if (typeof value === 'object' && value !== null) {
    for (const [name, entry] of Object.entries(value)) {
      yield name;
      yield* textsOf(entry);
    }
  }
}
