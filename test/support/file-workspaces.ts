import { createFileArtifactStore } from '../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileWorkspaces } from '../../activities/adapters/workspaces/file-workspaces.ts';
import type { Workspaces } from '../../activities/ports/workspaces.ts';

/** Creates workspaces as a worker does, with kept files in the artifact store of the home. */
export function fileWorkspaces(home: string, roots?: readonly string[]): Workspaces {
  const store = createFileArtifactStore({ home });
  return createFileWorkspaces({ home, roots, keep: (content) => store.put(content) });
}
