import { listFoundations } from '../../core/workspace/list-foundations.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { WorkspacePlace } from '../ports/workspaces.ts';
import type { ToolContext } from './tool.ts';

/** Returns the place in which the calling delegation works. */
export async function placeOf({
  store,
  record_ref,
  run_id,
  delegation_id,
  upstream,
}: ToolContext): Promise<WorkspacePlace> {
  const { workspace_dir, waves } = await readRecord(store, record_ref);
  const direct = upstream.map((output) => output.delegation_id);
  const foundations = listFoundations(delegation_id, waves, direct);
  const worker = delegation_id === '' ? {} : { worker: { delegation_id, foundations } };
  return { run_id, dir: workspace_dir ?? null, ...worker };
}
