import type { Ref } from '../../contracts/ref.ts';
import { isRecord } from '../../core/is-record.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import type { ArtifactStore, RunIndex } from '../ports/artifact-store.ts';
import type { HomeFault } from '../../contracts/store.ts';
import { readRecord } from './record-log.ts';

/** The cure of damage that only a backup repairs. */
export const restore = 'restore it from a backup, then resume the runs that need it';

/**
 * Looks up everything that the records of the runs lead to, by the fields that hold references.
 *
 * @param whole Addresses of artifacts that were found whole.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function checkRecords(
  store: ArtifactStore,
  index: RunIndex,
  whole: ReadonlySet<Ref>,
): Promise<readonly HomeFault[]> {
  const checked = new Set<Ref>();
  const faults: HomeFault[] = [];
  for (const name of await index.list()) {
    const { ref } = await index.read(name);
    if (ref !== null) faults.push(...(await checkRun(store, name, ref, { whole, checked })));
  }
  return faults;
}

/** Addresses of artifacts, by what is known of them. */
interface Checked {
  readonly whole: ReadonlySet<Ref>;
  /** Those that were looked at for an earlier run. */
  readonly checked: Set<Ref>;
}

async function checkRun(
  store: ArtifactStore,
  name: string,
  from: Ref,
  { whole, checked }: Checked,
): Promise<readonly HomeFault[]> {
  const faults: HomeFault[] = [];
  const fault = (what: string): void => {
    faults.push({ where: `the run ${JSON.stringify(name)}`, what, cure: restore });
  };
  const waiting: [ref: Ref, namedBy: string][] = [[from, 'the index']];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [ref, namedBy] = next;
    if (checked.has(ref)) continue;
    checked.add(ref);
    // Another process may have stored it since.
    // oxlint-disable-next-line no-await-in-loop
    const bytes = whole.has(ref) || (await store.has(ref)) ? await readOrNull(store, ref) : null;
    if (bytes === null) fault(`the artifact ${ref} is missing or damaged; ${namedBy} names it`);
    else for (const one of refsIn(parseJson(bytes))) waiting.push([one, `the artifact ${ref}`]);
  }
  if (faults.length > 0) return faults;
  await readRecord(store, from).catch((error: unknown) => {
    if (!(error instanceof ArtifactCorrupt)) throw error;
    fault(error.message);
  });
  return faults;
}

async function readOrNull(store: ArtifactStore, ref: Ref): Promise<Uint8Array | null> {
  return store.get(ref).catch((error: unknown) => {
    if (error instanceof ArtifactCorrupt) return null;
    throw error;
  });
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown;
  } catch {
    return null;
  }
}

/** Finds the references of a document by the names of their fields: a text may hold hashes that are no addresses. */
function refsIn(value: unknown, field = ''): readonly Ref[] {
  if (Array.isArray(value)) return value.flatMap((one) => refsIn(one, field));
  if (isRecord(value)) return Object.entries(value).flatMap(([name, one]) => refsIn(one, name));
  const isRef = /^(?:ref|\w+_ref|parent|head)$/.test(field);
  return isRef && typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? [value] : [];
}
