import type { NativeConnection } from '@temporalio/worker';

/** The worker deployment that a versioned worker belongs to. */
export interface WorkerDeployment {
  readonly name: string;
  readonly namespace: string;
  /** True when new runs come to this build. A deployment's first build is not current until an operator makes it so. */
  readonly isCurrent: boolean;
}

const timeoutMs = 5_000;

/** @returns null without worker versioning. `isCurrent` is false when the server does not say. */
export async function describeDeployment(
  connection: NativeConnection,
  namespace: string,
  name: string | undefined,
  buildId: string,
): Promise<WorkerDeployment | null> {
  if (name === undefined) return null;
  try {
    const { workerDeploymentInfo } = await connection.withDeadline(Date.now() + timeoutMs, () =>
      connection.workflowService.describeWorkerDeployment({ namespace, deploymentName: name }),
    );
    const current = workerDeploymentInfo?.routingConfig?.currentDeploymentVersion;
    return { name, namespace, isCurrent: current?.buildId === buildId };
  } catch {
    // No worker has polled for it yet, or this server knows no deployments.
    return { name, namespace, isCurrent: false };
  }
}
