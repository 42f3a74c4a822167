import type { ContentBlock } from '../../../contracts/transcript.ts';
import type { ModelRequest } from '../../ports/model-client.ts';

/** Shortest run of characters that counts as a quotation. */
const quoteMinLength = 16;
const textMaxLength = 300;
/** Longer texts are cut before the search, whose cost grows with their length times the prompt's. */
const searchedMaxLength = 1_000;

interface QuoteRemoverOptions {
  readonly apiKey: string;
  /** If undefined, only the key is taken out. */
  readonly redact?: (text: string) => string;
}

/**
 * A function that makes a text of the API fit for logs, history and people: one line, at most 300 characters, without
 * the API key, without any other secret and without any run of 16 characters or more that also stands in the prompt. Error texts of the API and
 * of proxies quote what they were sent.
 */
export function createQuoteRemover(
  { apiKey, redact = (text) => text }: QuoteRemoverOptions,
  request: ModelRequest,
): (text: string) => string {
  return (text) => {
    const searched = redact(text)
      .slice(0, searchedMaxLength)
      .replaceAll(apiKey, '…')
      // oxlint-disable-next-line no-control-regex -- control characters must not reach terminals
      .replaceAll(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ')
      .trim();
    const sources = collectTexts(request);
    const shown = removeShort(removeRuns(searched, sources), sources);
    return shown.length > textMaxLength ? `${shown.slice(0, textMaxLength - 1)}…` : shown;
  };
}

function removeRuns(text: string, sources: readonly string[]): string {
  const quoted = Array.from({ length: text.length }, () => false);
  for (let start = 0; start + quoteMinLength <= text.length; start += 1) {
    const run = text.slice(start, start + quoteMinLength);
    if (sources.some((source) => source.includes(run))) {
      quoted.fill(true, start, start + quoteMinLength);
    }
  }
  return text
    .split('')
    .map((char, index) => {
      if (quoted[index] !== true) return char;
      return quoted[index - 1] === true ? '' : '…';
    })
    .join('');
}

/** A prompt that is shorter than a quotation is one as a whole. Below 6 characters it would hit ordinary words. */
function removeShort(text: string, sources: readonly string[]): string {
  return sources
    .filter((source) => source.length >= 6 && source.length < quoteMinLength)
    .reduce((rest, source) => rest.replaceAll(source, '…'), text);
}

/** Every text of the request, with white space as in a text that is one line. */
function collectTexts(request: ModelRequest): string[] {
  return [
    ...request.system.map((block) => block.text),
    ...request.messages.flatMap((message) => message.content.map(toText)),
  ].map((text) => text.replaceAll(/\s+/g, ' '));
}

function toText(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'tool_result') return block.content;
  return JSON.stringify(block.type === 'tool_use' ? block.input : block.raw) ?? '';
}
