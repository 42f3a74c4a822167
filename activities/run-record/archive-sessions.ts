import type { RunRecord } from '../../contracts/run-record.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { oneLine } from '../../core/text/markdown.ts';
import type { AssertCurrent } from '../attempt/heartbeat.ts';
import { appendRevision, readRecord } from '../artifacts/record-log.ts';
import { agentNameOf } from '../projection/render-design.ts';
import { hasEnded } from '../projection/render-sessions.ts';
import type { RecordDeps } from './deps.ts';
import {
  describeFault,
  describeInputIssues,
  describeInvalidInput,
} from './describe-input-issues.ts';
import { publishRecord } from './update-record.ts';
import { readEvents } from './read-events.ts';
import {
  ArchivalInput,
  archiveFailuresMax,
  type ArchivedRun,
  type ArchiveSessionsInput,
  type ArchiveSessionsResult,
} from '../../contracts/note.ts';
import { messageOf } from '../../core/text/message-of.ts';

/** State of a run according to the server. `unknown`: it does not have the run. */
export type RunFate = 'open' | 'ended' | 'unknown';

export interface ArchiveDeps extends Pick<RecordDeps, 'store' | 'index' | 'projection'> {
  readonly fateOf: (runId: string) => Promise<RunFate>;
}

/** Most characters of one failure: it goes into history. */
const failureCharsMax = 300;

/**
 * Archives the sessions of runs that ended without a word (seed 003, "Archival Agent"): a terminated run can't do it
 * itself. Its record gets the event `archived`, and its tree the names of ended sessions.
 *
 * AR1. Only a run whose workflow has ended on the server is archived. One that the server does not know may work elsewhere.
 * AR2. A run that ended by itself, is archived already or has no session stays as it is.
 * AR3. A run that can't be archived is a failure with its reason, changes nothing and stops no other one.
 * AR4. A second archival finds nothing to do.
 */
export async function archiveSessions(
  deps: ArchiveDeps,
  { input, now }: ArchiveSessionsInput,
  assertCurrent: AssertCurrent,
): Promise<ArchiveSessionsResult> {
  const parsed = ArchivalInput.safeParse(input ?? {});
  if (!parsed.success) {
    const faults = describeInputIssues(parsed.error, ArchivalInput).map(describeFault);
    return { type: 'refused', reason: describeInvalidInput('archival', faults, '{}') };
  }
  const { run_id: beginning } = parsed.data;
  const archived: ArchivedRun[] = [];
  const failures: string[] = [];
  for (const run_id of await deps.index.list()) {
    if (run_id === beginning) continue;
    try {
      // One run after the other: nobody waits for it.
      // oxlint-disable-next-line no-await-in-loop
      const sessions = await archiveRun(
        deps,
        { run_id, now, by: beginning ?? run_id },
        assertCurrent,
      );
      if (sessions > 0) archived.push({ run_id, sessions });
    } catch (error) {
      failures.push(cutText(`${run_id}: ${oneLine(messageOf(error))}`, failureCharsMax));
    }
  }
  const over = failures.length - archiveFailuresMax;
  const rest = over > 0 ? [`and ${over + 1} more`] : [];
  const told = over > 0 ? failures.slice(0, archiveFailuresMax - 1) : failures;
  return { type: 'archived', archived, failures: [...told, ...rest] };
}

/** @returns the number of sessions that were current until now. */
async function archiveRun(
  deps: ArchiveDeps,
  { run_id, now, by }: { readonly run_id: string; readonly now: number; readonly by: string },
  assertCurrent: AssertCurrent,
): Promise<number> {
  const { ref } = await deps.index.read(run_id);
  if (ref === null) return 0;
  const before = await readRecord(deps.store, ref);
  const sessions = countCurrent(before);
  if (sessions === 0 || (await deps.fateOf(run_id)) !== 'ended') return 0;
  const read = await readEvents(deps.store, before, [{ type: 'archived', by }], now);
  const stored = await appendRevision(deps.store, ref, read);
  await publishRecord(deps, stored, before, assertCurrent);
  return sessions;
}

function countCurrent(record: RunRecord): number {
  const { sessions = [] } = record;
  if (hasEnded(record)) return 0;
  return new Set(sessions.map((session) => agentNameOf(record, session))).size;
}
