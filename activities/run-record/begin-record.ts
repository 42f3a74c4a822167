import type { OpenRunInput } from '../../contracts/activity-types.ts';
import type { PlanOutline } from '../../contracts/design-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { forkRecord } from '../../core/run/fork-record.ts';
import { WorkspaceRefused } from '../ports/workspaces.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { takeLines } from '../text/bytes.ts';
import type { RecordDeps } from './deps.ts';
import { createFirstRecord } from './first-record.ts';
import { openFork } from './fork-run.ts';
import type { OpenedFork } from './fork-run.ts';
import type { RunRequest } from './read-input.ts';

/** Makes the first record: of a run that begins from nothing, or of one that goes on from another one. */
export async function beginRecord(
  deps: RecordDeps,
  input: OpenRunInput,
  request: RunRequest,
  {
    registryRef,
    ...known
  }: {
    readonly registryRef: Ref;
    readonly typedPlan: PlanOutline | null;
    readonly storeId: string;
  },
): Promise<{ readonly record: RunRecord; readonly fork: OpenedFork | null }> {
  const guide = await keepGuide(deps, input.run_id, request.workspaceDir);
  const isRun = input.workflow_type === 'plannerRun';
  const inputRef = isRun ? await deps.store.put(JSON.stringify(input.input)) : null;
  const first = createFirstRecord(input, request, registryRef, { ...known, guide, inputRef });
  if (request.from === null) return { record: first, fork: null };
  const fork = await openFork(deps, request.from);
  return { record: forkRecord(fork.before, first, fork.from.wave), fork };
}

/** Names of the file in which a workspace says how to work in it, the first one that there is. */
const guideFiles = ['AGENTS.md', 'CLAUDE.md'];

/** Keeps the guide of a workspace as it is when the run begins, so that every agent reads the same. */
async function keepGuide(
  { store, workspaces }: Pick<RecordDeps, 'store' | 'workspaces'>,
  run_id: string,
  dir: string | null,
): Promise<RunRecord['workspace_guide'] | null> {
  if (dir === null) return null;
  for (const file of guideFiles) {
    try {
      // The second is read only if there is no first one.
      // oxlint-disable-next-line no-await-in-loop
      const { content } = await workspaces.read({ run_id, dir }, file);
      const text = new TextDecoder().decode(content).trim();
      // oxlint-disable-next-line no-await-in-loop
      if (text !== '')
        return { file, ref: await store.put(takeLines(text, blockBytesMax.workspace_guide)) };
    } catch (error) {
      if (!(error instanceof WorkspaceRefused)) throw error;
    }
  }
  return null;
}
