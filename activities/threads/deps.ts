import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ThreadStore } from '../ports/thread-store.ts';

export interface ThreadDeps {
  readonly store: ArtifactStore;
  readonly threads: ThreadStore;
}
