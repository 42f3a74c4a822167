import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';

/** The workflows as one script for the sandbox. Takes seconds: once per process. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  const { pathname } = new URL(import.meta.url);
  const extension = pathname.endsWith('.ts') ? 'ts' : 'js';
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL(`../workflows/index.${extension}`, import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
}
