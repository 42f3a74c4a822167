import { isObject, parseJson, textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { Block } from '../messages-api.ts';

/** A block of a prompt, `<name>…</name>`. */
export interface PromptBlock {
  readonly name: string;
  /** What stands inside, trimmed, without the marks of data. */
  readonly text: string;
}

/**
 * The blocks at the top level of `text`, in their order.
 *
 * A block begins at the start of a line, because the prose of a request mentions blocks as well. Blocks are read one
 * after the other, so a tag quoted inside a block never counts as a block of its own. Only `<request>` is walked
 * through: it may stand before the blocks or around them.
 */
export function listBlocks(text: string): readonly PromptBlock[] {
  const blocks: PromptBlock[] = [];
  const opening = /^<([a-z_]+)(?:\s[^<>]*)?>/gmu;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const name = match[1] ?? '';
    const end = text.indexOf(`</${name}>`, opening.lastIndex);
    if (name === 'request' || end === -1) continue;
    blocks.push({ name, text: unmark(text.slice(opening.lastIndex, end).trim()) });
    opening.lastIndex = end + name.length + 3;
  }
  return blocks;
}

/** The first block of each name. */
export function firstOfEach(blocks: readonly PromptBlock[]): ReadonlyMap<string, string> {
  return new Map(blocks.toReversed().map(({ name, text }) => [name, text]));
}

/** In a plain text block the `<` of a tag that could pose as one of the engine is written `&lt;`. */
export function unescapeText(text: string): string {
  return text.replace(/&lt;(?=\/|[a-z])/giu, '<');
}

/** The JSON of a block; undefined when there is no such block, or no JSON in it. */
export function jsonBlock(blocks: ReadonlyMap<string, string>, name: string): unknown {
  return parseJson(blocks.get(name) ?? '');
}

/** The JSON object of a block; an empty one when there is none. */
export function objectBlock(blocks: ReadonlyMap<string, string>, name: string): JsonObject {
  const value = jsonBlock(blocks, name);
  return isObject(value) ? value : {};
}

/** The texts of a message or of the system prompt, one after the other. */
export function textIn(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === 'text' ? textOf(block['text']) : '')).join('\n');
}

/** What stands between the marks of a data block; a text without marks as it is. */
export function unmark(text: string): string {
  return /^<data marker="(\w+)"[^>]*>\n(.*)\n<\/data marker="\1">$/su.exec(text)?.[2] ?? text;
}
