import type { SessionReport } from '../../contracts/note.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { treePaths } from './paths.ts';
import { textOf } from './record-texts.ts';
import type { ProjectedFile } from './record-texts.ts';
import { agentNameOf } from './render-design.ts';

/**
 * Lists the files of the sessions: the newest of each agent is its current one while the run goes on, all others have
 * ended (seed 003, "Session Boundaries").
 */
export function listSessionFiles(record: RunRecord): readonly ProjectedFile[] {
  const { sessions = [] } = record;
  const named = sessions.map((session) => ({ session, agent: agentOf(record, session) }));
  const used = new Set<string>();
  return named.map(({ session, agent }, at) => {
    const isNewest = !named.slice(at + 1).some((later) => later.agent === agent);
    const isCurrent = isNewest && record.status === null;
    const path = isCurrent ? treePaths.currentSession(agent) : endedPath(agent, session, used);
    used.add(path);
    return {
      path,
      of: [session.session_ref],
      needs: { markdown: [session.session_ref] },
      render: (texts) => textOf(texts.markdown, session.session_ref),
    };
  });
}

/** Returns the file of a session that has ended. Two of one task in one minute keep their whole ids. */
function endedPath(
  agent: string,
  { delegation_id, at }: SessionReport,
  used: ReadonlySet<string>,
): string {
  const short = treePaths.endedSession(agent, delegation_id.replace(/_\d{10}$/, ''), at);
  return used.has(short) ? treePaths.endedSession(agent, delegation_id, at) : short;
}

function agentOf(record: RunRecord, { delegation_id, agent_id }: SessionReport): string {
  return agentNameOf(record, { delegation_id, agent_id });
}
