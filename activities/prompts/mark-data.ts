import { removeInvisible } from '../../core/text/cut-text.ts';
import { hashBytes } from '../text/bytes.ts';

/** Hex digits of a marker: a text that contains its own can't be found. */
const markerLength = 24;

/**
 * Puts a text of another agent or a tool between two marks that it can't contain itself: the marker is a hash of the
 * text, so a text that holds one has another. A block with a person's words among those of agents is marked as well: the
 * rules name the words in it that bind. Invisible characters are removed, and their number is reported.
 *
 * @param block a block of a prompt, or the text of a tool's result.
 * @param key identifies what the text is rendered for: a call, or a wave where all its calls must get the same bytes.
 * The same key and text give the same bytes, so that a repeated attempt sends what the first one sent.
 */
export function markData(block: string, key: string): string {
  const { text, removed } = removeInvisible(block);
  const hash = hashBytes(JSON.stringify([key, text]));
  const marker = hash.slice(0, markerLength);
  const told = removed === 0 ? '' : ` invisible_characters_removed="${removed}"`;
  return `<data marker="${marker}"${told}>\n${text}\n</data marker="${marker}">`;
}
