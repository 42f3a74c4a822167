import type { Readable } from 'node:stream';
import { badInput } from './cli-error.ts';

/**
 * Everything from standard input, as UTF-8.
 *
 * @throws CliError for other bytes: replacing them in silence would change what was meant.
 */
export async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin as AsyncIterable<Buffer | string>) {
    chunks.push(Buffer.from(chunk));
  }
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return decoder.decode(Buffer.concat(chunks));
  } catch {
    throw badInput('Standard input is not UTF-8. Try: iconv -t UTF-8');
  }
}
