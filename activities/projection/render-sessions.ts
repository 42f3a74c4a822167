import type { SessionReport } from '../../contracts/note.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { bullets, oneLine } from '../../core/text/markdown.ts';
import { treePaths } from './paths.ts';
import { textOf, type ProjectedFile } from './record-texts.ts';
import { agentNameOf } from './render-design.ts';
import { renderJson } from './render-shared-status.ts';

interface NamedSession {
  readonly session: SessionReport;
  readonly agent: string;
  readonly path: string;
}

/**
 * Lists the files of the sessions: the newest of each agent is its current one while the run goes on, all others have
 * ended (seed 003, "Session Boundaries"). A run that has ended, also without a word, has the index of its archive, and each
 * run the log of what was archived.
 */
export function listSessionFiles(record: RunRecord): readonly ProjectedFile[] {
  const named = nameSessions(record);
  const files = named.map(({ session: { session_ref }, path }): ProjectedFile => ({
    path,
    of: [session_ref],
    needs: { markdown: [session_ref] },
    render: (texts) => textOf(texts.markdown, session_ref),
  }));
  const { archival } = record;
  const ended = hasEnded(record) ? named : [];
  const shared = { of: [record.sessions, record.status, archival, record.archived_by], needs: {} };
  const log: ProjectedFile = {
    ...shared,
    path: treePaths.cleanupLog,
    render: () => renderJson(describeCleanup(record, ended)),
  };
  const index: ProjectedFile = {
    ...shared,
    path: treePaths.archiveIndex,
    render: () => renderJson(describeIndex(record.run_id, ended)),
  };
  return [
    ...files,
    ...(ended.length > 0 || archival !== undefined ? [log] : []),
    ...(ended.length > 0 ? [index] : []),
  ];
}

/** Returns true for a run that has ended, also without a word: then no session of it is current. */
export function hasEnded({ status, archived_by }: RunRecord): boolean {
  return status !== null || archived_by !== undefined;
}

/** Tells what the archival at the beginning could not do; null when it did everything. */
export function renderArchiveFailures({ archival }: RunRecord): string | null {
  const { failures = [] } = archival ?? {};
  if (failures.length === 0) return null;
  const told = 'Sessions of earlier runs that could not be archived. Nothing of them is lost:';
  return `## Archive\n\n${told}\n\n${bullets(failures.map(oneLine), '')}`;
}

function nameSessions(record: RunRecord): readonly NamedSession[] {
  const { sessions = [] } = record;
  const owned = sessions.map((session) => ({ session, agent: agentNameOf(record, session) }));
  const used = new Set<string>();
  return owned.map(({ session, agent }, at) => {
    const isNewest = !owned.slice(at + 1).some((later) => later.agent === agent);
    const isCurrent = isNewest && !hasEnded(record);
    const path = isCurrent ? treePaths.currentSession(agent) : endedPath(agent, session, used);
    used.add(path);
    return { session, agent, path };
  });
}

/** Returns the file of a session that has ended. Those of one name in one minute are numbered. */
function endedPath(
  agent: string,
  { delegation_id, at }: SessionReport,
  used: ReadonlySet<string>,
): string {
  const short = delegation_id.replace(/_\d{10}(?=\.|$)/, '');
  let path = treePaths.endedSession(agent, short, at);
  for (let nth = 1; used.has(path); nth += 1) {
    path = treePaths.endedSession(agent, delegation_id, at, nth);
  }
  return path;
}

/** Describes what became of the sessions (seed 003, Issue 2). Each was current until it ended. */
function describeCleanup(record: RunRecord, ended: readonly NamedSession[]): object {
  const { archived = [], failures = [] } = record.archival ?? {};
  return {
    operations: [
      ...archived.map(({ run_id, sessions }) => ({
        operation: 'archive_crashed_run',
        timestamp: record.started_at,
        run_id,
        sessions,
      })),
      ...ended.map(({ session, agent, path }) => ({
        operation: 'archive',
        timestamp: session.at,
        from: treePaths.currentSession(agent),
        to: path,
      })),
    ],
    failures,
  };
}

function describeIndex(run_id: string, named: readonly NamedSession[]): object {
  return {
    run_id,
    sessions: named.map(({ session, agent, path }) => ({
      agent,
      task_id: session.delegation_id,
      file: path,
      status: session.status,
      notes: session.count,
      unresolved_notes: session.unresolved,
      archived_at: session.at,
    })),
  };
}
