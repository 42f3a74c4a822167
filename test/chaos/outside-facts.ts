import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { hashBytes } from '../../activities/text/bytes.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { withoutTimes } from './design-facts.ts';

type Files = Readonly<Record<string, string>>;

/** Changes that a run made outside of its record, and what its record says of them. */
export interface OutsideFacts {
  /** Files of the run's workspace, or of the user's folder, by path. */
  readonly files: Files;
  /** `<effect_id>: <tool> <state>` for each effect of the record, sorted. */
  readonly effects: readonly string[];
  /** Effects that nobody knows the end of, and files that are not what the record says. */
  readonly effectFaults: readonly string[];
  /** How often the MCP server was called for each effect, by the text of the call. */
  readonly outsideCalls: Readonly<Record<string, number>>;
}

/** Places where a run acts besides its record. */
export interface OutsidePlaces {
  /** Files of the user's folder before the run began. Null without such a folder. */
  readonly given: Files | null;
  /** Notes of the MCP server since the run began. */
  readonly callLog: string;
}

export function readOutside(
  home: string,
  runId: string,
  record: RunRecord,
  { given, callLog }: OutsidePlaces,
): OutsideFacts {
  const { workspace_dir, settled_changes, effects = [] } = record;
  const files = readFolder(workspace_dir ?? join(home, runId, 'workspace'));
  const isKept = workspace_dir !== undefined && settled_changes?.state !== 'applied';
  return {
    files,
    effects: effects
      .map(({ effect_id, tool, state }) => `${withoutTimes(effect_id)}: ${tool} ${state}`)
      .toSorted(),
    effectFaults: [
      ...findUnsettled(record),
      // The user's folder is changed once, at the end, or not at all.
      ...(isKept ? findChanged(given ?? {}, files) : findWrongFiles(record, files)),
    ],
    outsideCalls: countCalls(callLog),
  };
}

function readFolder(root: string): Files {
  if (!existsSync(root)) return {};
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted();
  return Object.fromEntries(
    paths
      .filter((path) => statSync(join(root, path)).isFile())
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  );
}

function findUnsettled({ effects = [] }: RunRecord): string[] {
  return effects
    .filter(({ state }) => state !== 'confirmed')
    .map(({ effect_id, state, reason }) => `${effect_id} is ${state}: ${reason}`);
}

/** Lists files that differ from their last confirmed effect. Commands and calls name no file. */
function findWrongFiles({ effects = [] }: RunRecord, files: Files): string[] {
  const last = new Map(
    effects.flatMap(({ state, target, receipt }) =>
      state === 'confirmed' && receipt !== null && !receipt.command && receipt.call !== true
        ? [[target, receipt.sha256] as const]
        : [],
    ),
  );
  return [...last]
    .filter(([target, sha256]) => hashBytes(files[target] ?? '') !== sha256)
    .map(([target]) => `${target} is not what its last effect wrote`);
}

function findChanged(given: Files, files: Files): string[] {
  if (isDeepStrictEqual(given, files)) return [];
  return [`the folder was changed, though its changes are kept: ${Object.keys(files).join(', ')}`];
}

/** The odd server notes each text that it echoes. */
export function countCalls(callLog: string): Record<string, number> {
  if (!existsSync(callLog)) return {};
  const counts: Record<string, number> = {};
  for (const [, text = ''] of readFileSync(callLog, 'utf8').matchAll(/^echo (.*)$/gmu)) {
    counts[text] = (counts[text] ?? 0) + 1;
  }
  return counts;
}
