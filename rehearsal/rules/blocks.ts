import { isObject, parseJson, textOf } from '../json.ts';
import type { JsonObject } from '../json.ts';
import type { Block } from '../messages-api.ts';

/** A block of a prompt, `<name>…</name>`. */
export interface PromptBlock {
  readonly name: string;
  /** Trimmed content, without the marks of data. */
  readonly text: string;
}

/**
 * Lists the blocks at the top level of `text`, in order.
 *
 * A block begins at the start of a line, because the prose of a request mentions blocks as well. Blocks are read one
 * after the other, so a tag quoted inside a block never counts as a block of its own. Only `<request>` is entered: it
 * may stand before the blocks or around them.
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

/** Returns the first block of each name. */
export function firstOfEach(blocks: readonly PromptBlock[]): ReadonlyMap<string, string> {
  return new Map(blocks.toReversed().map(({ name, text }) => [name, text]));
}

/** Restores the `<` of tags that could pose as the engine's: plain text blocks write it `&lt;`. */
export function unescapeText(text: string): string {
  return text.replace(/&lt;(?=\/|[a-z])/giu, '<');
}

/** Parses the JSON of a block; undefined when there is no such block, or no JSON in it. */
export function jsonBlock(blocks: ReadonlyMap<string, string>, name: string): unknown {
  return parseJson(blocks.get(name) ?? '');
}

/** Parses the JSON object of a block; an empty one when there is none. */
export function objectBlock(blocks: ReadonlyMap<string, string>, name: string): JsonObject {
  const value = jsonBlock(blocks, name);
  return isObject(value) ? value : {};
}

/** Joins the texts of a message or of the system prompt. */
export function textIn(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === 'text' ? textOf(block['text']) : '')).join('\n');
}

/** Returns the content between the marks of a data block; a text without marks unchanged. */
export function unmark(text: string): string {
  return /^<data marker="(\w+)"[^>]*>\n(.*)\n<\/data marker="\1">$/su.exec(text)?.[2] ?? text;
}
