import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BucketSettings } from '../../activities/adapters/postgres-store/bucket.ts';
import type { Stores } from '../../activities/ports/stores.ts';
import { buildScript } from './built-script.ts';
import type { BuiltScript } from './built-script.ts';
import { atFileEnd } from './cleanup.ts';

/** Where a writer stores. */
export interface StorePlace {
  readonly home: string;
  readonly storeUrl?: string | undefined;
  readonly artifacts?: BucketSettings | undefined;
}

/** Serves all tests of a file. */
let script: Promise<BuiltScript> | null = null;

function openScript(): Promise<BuiltScript> {
  if (script !== null) return script;
  const entry = fileURLToPath(new URL('append-records.ts', import.meta.url));
  const building = buildScript('append-records', { entryPoints: [entry] });
  script = building;
  atFileEnd(async () => {
    script = null;
    (await building).remove();
  });
  return building;
}

/**
 * Starts a process that stores numbered texts with their entries in the ledger.
 *
 * @param count 0 for no end.
 * @param counter Name of a shared value that counts the texts. Default: none does.
 */
export async function startWriter(
  { home, storeUrl = '', artifacts }: StorePlace,
  name: string,
  count = 0,
  counter = '',
) {
  const { file } = await openScript();
  const place = JSON.stringify({ home, storeUrl: storeUrl || undefined, artifacts });
  const args = [file, place, name, String(count), counter];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (text: Buffer) => (out += text.toString()));
  const closed = once(child, 'close');
  return {
    child,
    closed,
    /** Number and address of each text that the process was told is stored. */
    acknowledged: () =>
      [...out.matchAll(/^(\d+) (.+)\n/gm)].map(([, number = '', ref = '']) => ({ number, ref })),
  };
}

/** Checks that a store has the texts of a writer, each with its entry. */
export async function expectStored(
  { store, ledger }: Stores,
  name: string,
  texts: readonly { readonly number: string; readonly ref: string }[],
): Promise<void> {
  for (const { number, ref } of texts) {
    expect(await store.getText(ref)).toMatch(new RegExp(`^${name} ${number} x*$`));
    const turn = { workflow_id: name, run_id: 'r', activity_id: number };
    expect(await ledger.find(turn)).toEqual([{ ref }]);
  }
}
