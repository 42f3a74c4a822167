import { isRecord } from '../../../core/is-record.ts';
import { cleanLine, cutText } from '../../../core/text/cut-text.ts';
import type { McpAnswer } from '../../ports/mcp-servers.ts';

/** Most characters of an answer that are read at all. What a model is shown is less. */
const answerCharsMax = 400_000;

/** Most blocks of an answer that are read. */
const blocksMax = 500;

/** Renders the answer of a server's tool as a text for a model. Pictures, sounds and files are named and not shown. */
export function renderAnswer({ content, structured }: McpAnswer): string {
  const blocks = content.slice(0, blocksMax).map(renderBlock);
  const left = content.length - blocks.length;
  const told = structured === undefined ? '' : JSON.stringify(structured);
  // Servers repeat structured content as a text, for clients that know nothing else.
  const isTold = content.some((block) => isRecord(block) && isSameJson(block['text'], told));
  const parts = [
    ...blocks,
    ...(left > 0 ? [`[${left} more blocks are left out.]`] : []),
    ...(told === '' || isTold ? [] : [told]),
  ];
  return cutText(parts.join('\n'), answerCharsMax);
}

function renderBlock(block: unknown): string {
  if (!isRecord(block)) return '[A block that can not be read.]';
  const { type, text, resource } = block;
  if (type === 'text' && typeof text === 'string') return cutText(text, answerCharsMax);
  if (type === 'resource' && isRecord(resource)) return renderResource(resource);
  if (type === 'resource_link') {
    return `[Link: ${quote(block['name'])} ${quote(block['uri'])}. It is not opened.]`;
  }
  if (type === 'image' || type === 'audio') {
    return `[${type}, ${quote(block['mimeType'])}, ${countEncoded(block['data'])} bytes. It is not shown.]`;
  }
  return `[A block of the type ${quote(type)}. It is not shown.]`;
}

function renderResource(resource: Readonly<Record<string, unknown>>): string {
  const { uri, text, blob, mimeType } = resource;
  if (typeof text === 'string')
    return `[Resource: ${quote(uri)}]\n${cutText(text, answerCharsMax)}`;
  return `[Resource: ${quote(uri)}, ${quote(mimeType)}, ${countEncoded(blob)} bytes. It is not shown.]`;
}

function quote(value: unknown): string {
  return JSON.stringify(cleanLine(typeof value === 'string' ? value : '', 300));
}

/** Counts the bytes of Base64. */
function countEncoded(data: unknown): number {
  return typeof data === 'string' ? Math.floor((data.length * 3) / 4) : 0;
}

function isSameJson(text: unknown, json: string): boolean {
  if (typeof text !== 'string' || json === '' || text.length > json.length * 3 + 100) return false;
  try {
    return JSON.stringify(JSON.parse(text)) === json;
  } catch {
    return false;
  }
}
