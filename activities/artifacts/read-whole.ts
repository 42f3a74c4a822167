import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { WrittenFile } from '../../contracts/effect.ts';
import { isRecord } from '../../core/is-record.ts';
import { shareBytes } from '../../core/text/cut-text.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { cutAtLine } from '../text/blocks.ts';
import { countBytes } from '../text/bytes.ts';
import { readJson } from './read-artifact.ts';

/**
 * Reads the whole result of a delegation: its detailed_md, and each file that it wrote, so that other agents can read
 * the contents.
 *
 * @throws ArtifactCorrupt or StoreUnavailable from the store.
 */
export async function readWhole(
  store: ArtifactStore,
  { detailed_md }: Pick<AgentOutput, 'detailed_md'>,
  files: readonly WrittenFile[],
): Promise<string> {
  if (files.length === 0) return detailed_md;
  const texts = await Promise.all(files.map((file) => readContent(store, file)));
  const shares = shareBytes(texts.map(countBytes), blockBytesMax.written_files);
  const sections = files.map(({ path, sha256, bytes, tool }, at) =>
    [
      `# File ${path}`,
      `Written by ${tool}: ${bytes} bytes, SHA-256 ${sha256}.`,
      fence(cutAtLine(texts[at] ?? '', shares[at] ?? 0)),
    ].join('\n\n'),
  );
  return [detailed_md.trimEnd(), ...sections].join('\n\n');
}

/** Reads the text from the call's arguments; that of an edited file is an artifact of its own. */
async function readContent(
  store: ArtifactStore,
  { arguments_ref, content_ref }: WrittenFile,
): Promise<string> {
  if (content_ref !== undefined) return store.getText(content_ref);
  const given = await readJson(store, arguments_ref);
  const content = isRecord(given) ? given['content'] : undefined;
  return typeof content === 'string' ? content : '[The call did not give the text of the file.]';
}

/** Puts a text into a code block that nothing in it can close. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/gu)].map(([run]) => run.length));
  const mark = '`'.repeat(longest + 1);
  return `${mark}\n${text}\n${mark}`;
}
