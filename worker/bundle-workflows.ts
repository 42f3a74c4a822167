import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { atomicWriteFile } from '../activities/adapters/file-store/atomic-write-file.ts';
import { hashSources, isBuilt, packageFiles, root } from './build-id.ts';

/** The workflows as one script for the sandbox. */
export interface WorkflowBundle {
  readonly code: string;
}

export interface BundleOptions {
  /** Includes the interceptors of OpenTelemetry, which cost memory in every cached workflow. Default false. */
  readonly traced?: boolean;
  /** Puts messages and stack traces of failures into payloads, where the codec encrypts them. Default false. */
  readonly encrypted?: boolean;
}

/** Path of the module that encodes failures, for the bundle and for the worker. */
export const encodedFailures = join(root, 'worker', 'encoded-failures.cjs');

/** Folders whose content decides the bundle: those that workflows may import, and the bundling itself. */
const rooms = ['contracts', 'core', 'workflows', 'worker'];

/**
 * Returns the bundle from the cache in `node_modules/.cache` when sources and packages are unchanged; otherwise bundles
 * the workflows, which takes seconds. Where that folder can't be written, every process bundles anew.
 */
export async function loadWorkflowBundle(options: BundleOptions = {}): Promise<WorkflowBundle> {
  const hash = await hashSources(rooms, packageFiles.installed);
  const kinds = `${options.traced === true ? '-traced' : ''}${options.encrypted === true ? '-encrypted' : ''}`;
  const name = `${hash}${kinds}.js`;
  const file = join(root, 'node_modules', '.cache', 'planwave', name);
  const cached = await readFile(file, 'utf8').catch(() => null);
  if (cached !== null) return { code: cached };
  const bundle = await bundleWorkflows(options);
  await atomicWriteFile(file, bundle.code).catch(() => undefined);
  return bundle;
}

/**
 * Bundles the present workflows.
 *
 * All workflows of a process share one copy of the modules, which hold no state (`test/architecture` checks that) and
 * whose exports the SDK freezes. With one copy each, the SDK's default, a cached workflow took 289 KB more, and its
 * start 3 ms more of processor time.
 */
export async function bundleWorkflows({
  traced = false,
  encrypted = false,
}: BundleOptions = {}): Promise<WorkflowBundle> {
  const extension = isBuilt ? 'js' : 'ts';
  const room = join(root, 'workflows');
  const workflowsPath = join(room, `index.${extension}`);
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    preloadModules: [workflowsPath],
    workflowInterceptorModules: [
      join(room, 'shared', `signal-intake.${extension}`),
      join(room, 'shared', `store-stamp.${extension}`),
      ...(traced ? [join(room, 'tracing', `interceptors.${extension}`)] : []),
    ],
    ...(encrypted && { failureConverterPath: encodedFailures }),
    logger: new DefaultLogger('ERROR'),
  });
  return { code };
}
