import { readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const begin = '<!-- diagram: npm run diagram writes what stands between here -->';
const end = '<!-- and here -->';

/** Draws nothing for `test/`, which may import everything. */
const left = 'test';

/**
 * Replaces the diagram in the text of ARCHITECTURE.md by one made of the compiler's project references.
 *
 * @param {string} page
 * @param {(path: string) => string} read reads a file of the repository
 * @returns {string}
 * @throws {Error} when the page has lost its markers
 */
export function drawDiagram(page, read) {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) {
    throw new Error(`The page has no place for the diagram. Try: put back\n${begin}\n${end}`);
  }
  const rooms = listReferences('.', read).filter((room) => room !== left);
  const arrows = rooms.flatMap((room) =>
    listReferences(room, read).map((target) => `  ${nodeOf(room)} --> ${nodeOf(target)}`),
  );
  const nodes = rooms.map((room) => `  ${nodeOf(room)}["${room}/"]`);
  const diagram = ['```mermaid', 'flowchart TD', ...nodes, ...arrows, '```'].join('\n');
  return `${page.slice(0, from + begin.length)}\n\n${diagram}\n\n${page.slice(to)}`;
}

/**
 * @param {string} room
 * @param {(path: string) => string} read
 * @returns {string[]} folders that the project of the room refers to
 */
function listReferences(room, read) {
  /** @type {{ references: readonly { path: string }[] }} */
  const { references } = JSON.parse(read(posix.join(room, 'tsconfig.json')));
  return references.map(({ path }) => posix.join(room, path));
}

/** @param {string} room */
function nodeOf(room) {
  return room.replace('/', '_');
}

const usage = `Usage: npm run diagram

Draws the diagram in ARCHITECTURE.md anew, from the project references of the compiler.`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  const root = fileURLToPath(new URL('..', import.meta.url));
  const page = join(root, 'ARCHITECTURE.md');
  const drawn = drawDiagram(readFileSync(page, 'utf8'), (path) =>
    readFileSync(join(root, path), 'utf8'),
  );
  writeFileSync(page, drawn);
}
