import type { Ref } from '../../../contracts/ref.ts';

/** Key of an artifact behind the prefix of a bucket, as `Bucket.put` makes it. */
const artifactKey =
  /^(?<path>[\da-f]{2}\/(?<ref>[\da-f]{64})\/(?<owner>[\da-f]+)-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** Object of an artifact, as a list of its bucket shows it. */
interface ListedArtifact {
  /** The key behind the prefix. */
  readonly path: string;
  readonly ref: Ref;
  /** Id of the store that wrote it. */
  readonly owner: string;
  readonly bytes: number;
  /** Unix epoch milliseconds. */
  readonly storedAt: number;
}

/**
 * Lists the artifacts directly below a folder of a bucket (ListObjectsV2), of all stores. Objects with other keys are left out.
 *
 * @param ask Sends a query about the bucket, and returns the XML of the answer.
 */
export async function* listArtifacts(
  folder: string,
  ask: (query: string) => Promise<string>,
): AsyncGenerator<ListedArtifact> {
  let last = '';
  for (;;) {
    const after = last;
    const from = after === '' ? '' : `&start-after=${encodeURIComponent(after)}`;
    // oxlint-disable-next-line no-await-in-loop -- page by page
    const xml = await ask(`?list-type=2&prefix=${encodeURIComponent(folder)}${from}`);
    const [head = '', ...entries] = xml.split('<Contents>');
    yield* entries.flatMap((entry) => readEntry(entry, folder));
    last = readElement(entries.at(-1) ?? '', 'Key');
    // The mark stands before the entries or after them.
    const isTruncated = readElement(`${head}${entries.at(-1) ?? ''}`, 'IsTruncated') === 'true';
    if (!isTruncated || last <= after) return;
  }
}

function readEntry(xml: string, folder: string): readonly ListedArtifact[] {
  const key = readElement(xml, 'Key');
  const { path, ref, owner } = artifactKey.exec(key.slice(folder.length))?.groups ?? {};
  if (path === undefined || ref === undefined || owner === undefined) return [];
  const bytes = Number(readElement(xml, 'Size'));
  return [{ path, ref, owner, bytes, storedAt: Date.parse(readElement(xml, 'LastModified')) }];
}

/** Returns the text of the first element of a name; empty without one. */
function readElement(xml: string, name: string): string {
  const [, from = ''] = xml.split(`<${name}>`, 2);
  const [text = ''] = from.split('<', 1);
  return text.replaceAll('&amp;', '&');
}
