import type { ArtifactStore } from '../ports/artifact-store.ts';

export interface TeamDeps {
  readonly store: ArtifactStore;
}
