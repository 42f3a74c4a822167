import { resolve } from 'node:path';
import { z } from 'zod';
import { folders } from './setting-shapes.ts';

/** Settings of agents' tools. */
export interface ToolSettings {
  /** `PLANWAVE_TOOLS` as an absolute path: a module with the owner's tools. If undefined, only the shipped ones. */
  readonly file: string | undefined;
  /** `PLANWAVE_READABLE_FILES`: patterns of private or ignored files that agents may read. Default: none. */
  readonly readable: readonly string[];
  /** `PLANWAVE_UNTRUSTED_WORKSPACES=1`: strangers may have written the files of workspaces. Default: they are trusted. */
  readonly untrustedWorkspaces: boolean;
  /** `PLANWAVE_MCP`: absolute paths of files with MCP servers. Default: none. */
  readonly mcpFiles: readonly string[];
}

/** Variables of agents' tools, each with what is expected of it. */
export const toolVariables = {
  PLANWAVE_TOOLS: z
    .string()
    .regex(/^[^\p{Cc}]{1,4000}\.m?[jt]s$/u, 'the path of an ES module. Try: ./tools.mjs')
    .transform((path) => resolve(path))
    .optional(),
  PLANWAVE_READABLE_FILES: z
    .string()
    .regex(
      /^[^\p{Cc}]{0,4000}$/u,
      'patterns as in a .gitignore, joined by ":". Try: .env.example:config/local.json',
    )
    .transform((text) => text.split(':').filter((pattern) => pattern !== ''))
    .default([]),
  PLANWAVE_UNTRUSTED_WORKSPACES: z
    .enum(['0', '1'], '1 if strangers may have written files of workspaces, or 0. Try: 0')
    .default('0'),
  PLANWAVE_MCP: folders().default([]),
};

type ToolVariables = z.infer<z.ZodObject<typeof toolVariables>>;

export function toToolSettings(read: ToolVariables): ToolSettings {
  return {
    file: read.PLANWAVE_TOOLS,
    readable: read.PLANWAVE_READABLE_FILES,
    untrustedWorkspaces: read.PLANWAVE_UNTRUSTED_WORKSPACES === '1',
    mcpFiles: read.PLANWAVE_MCP,
  };
}
