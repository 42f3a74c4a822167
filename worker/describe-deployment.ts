import { z } from 'zod';
import type { NativeConnection } from '@temporalio/worker';

/** Variables of worker versioning, each with what is expected of it. */
export const deploymentVariables = {
  // The server does not refuse "." or ":" or "__" in front: the worker would poll in vain for ever.
  TEMPORAL_DEPLOYMENT_NAME: z
    .string()
    .regex(
      /^(?!__)[\w/-]{1,200}$/,
      'letters, digits, "-", "_" and "/", without "__" in front. Try: planwave',
    )
    .optional(),
  // Accepts ids that need no quotes in commands and search attributes.
  TEMPORAL_WORKER_BUILD_ID: z
    .string()
    .regex(
      /^[\w.+@/-]{1,200}$/,
      'letters, digits and ".", "_", "-", "+", "@", "/". Try: 0.1.0+a1b2c3d, or leave it empty',
    )
    .optional(),
};

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
