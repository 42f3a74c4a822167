import type { z } from 'zod';
import { findToolFaults, type OwnTool } from '../activities/tools/own-tool.ts';

/**
 * Defines a tool that a worker of `createWorker` offers to agents. Its arguments have the types of its schema.
 *
 * @throws {TypeError} that names each wrong field
 */
export function defineTool<S extends z.ZodType>(tool: OwnTool<S>): OwnTool<S> {
  const faults = findToolFaults([tool]);
  if (faults.length === 0) return tool;
  throw new TypeError(
    faults.map((fault) => `defineTool: ${fault.replace('[0]', '').trim()}`).join('\n'),
  );
}
