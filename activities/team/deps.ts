import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { ProjectionWriter } from '../ports/projection-writer.ts';

export interface TeamDeps {
  readonly store: ArtifactStore;
  readonly projection: ProjectionWriter;
}
