import { readRecord } from '../artifacts/record-log.ts';
import type { WorkspacePlace } from '../ports/workspaces.ts';
import type { ToolContext } from './tool.ts';
import { listFoundations } from '../../core/workspace/run-changes.ts';

/** Returns the place in which the calling delegation works. */
export async function placeOf(context: ToolContext): Promise<WorkspacePlace> {
  const { store, record_ref, run_id, delegation_id, builds_on } = context;
  const { workspace_dir, changes, waves } = await readRecord(store, record_ref);
  const dir = workspace_dir ?? null;
  if (delegation_id === '' || changes === 'direct') return { run_id, dir };
  const foundations = listFoundations(delegation_id, waves, builds_on);
  return { run_id, dir, worker: { delegation_id, foundations } };
}
