import type { StateToolName } from '../../../contracts/state-call.ts';
import {
  getCurrentClaims,
  getNegotiationState,
  negotiateResponse,
  openNegotiation,
  registerClaim,
  editSection,
  generateCode,
  assignTurn,
  submitSummary,
} from './triad-tools.ts';
import type { CommandRunner } from '../../ports/command-runner.ts';
import type { PageFetcher } from '../../ports/page-fetcher.ts';
import type { Workspaces } from '../../ports/workspaces.ts';
import type { Worktrees } from '../../ports/worktrees.ts';
import { createChangeFiles } from './change-files.ts';
import { createFetchPage, fetchPageName, webResearch, webResearchName } from './web-tools.ts';
import { createGitTools, createReadFiles } from './read-files.ts';
import { loadDetail } from './load-detail.ts';
import { completionNote } from './state-tool.ts';
import { createRunCommand } from './run-command.ts';
import type { GrantableTool, StateTool, Tool, ToolRegistry } from '../tool.ts';
import { delegateTaskToMember } from './team-tools.ts';

/** Tools that the workflow of a triad, a team or a delegation decides, in the order in which they are offered. */
export const stateTools: Readonly<Record<StateToolName, StateTool>> = {
  register_claim: registerClaim,
  negotiate_response: negotiateResponse,
  edit_section: editSection,
  generate_code: generateCode,
  get_current_claims: getCurrentClaims,
  get_negotiation_state: getNegotiationState,
  assign_turn: assignTurn,
  open_negotiation: openNegotiation,
  submit_summary: submitSummary,
  delegate_task_to_member: delegateTaskToMember,
  completion_note: completionNote,
};

/** Names of the shipped tools that an agent's file can grant. */
export const grantableNames = [
  'load_detail',
  'list_files',
  'search_files',
  'read_file',
  'write_file',
  'edit_file',
  'delete_file',
  'git_status',
  'git_diff',
  'run_command',
  webResearchName,
  fetchPageName,
] as const;

/** Names that no tool of a worker's owner may have. */
export const reservedNames: readonly string[] = [...grantableNames, ...Object.keys(stateTools)];

/** The places in which shipped tools work. */
export interface ToolPlaces {
  readonly workspaces: Workspaces;
  readonly worktrees: Worktrees;
  /** Runs agents' commands. Null where there are none. */
  readonly commands: CommandRunner | null;
  /** True when strangers may have written the files of workspaces. Default false. */
  readonly untrusted?: boolean;
  /** Access of agents to the web: null without it, which is the default; `pages` is null when no host is allowed. */
  readonly web?: { readonly pages: PageFetcher | null } | null;
  /** Tools of the worker's owner. Default: none. */
  readonly own?: readonly GrantableTool[];
}

/** Creates the registry with all tools that are shipped, and those of the worker's owner. */
export function createTools({
  workspaces,
  worktrees,
  commands: runner,
  untrusted = false,
  web = null,
  own = [],
}: ToolPlaces): ToolRegistry {
  const tools = [
    loadDetail,
    ...createReadFiles(workspaces),
    ...createChangeFiles(workspaces),
    ...createGitTools(worktrees),
    ...(runner === null ? [] : [createRunCommand({ runner, workspaces, worktrees })]),
    ...(web === null ? [] : [webResearch]),
    ...(web === null || web.pages === null ? [] : [createFetchPage(web.pages)]),
  ];
  return createToolRegistry([...(untrusted ? tools.map(distrustFiles) : tools), ...own]);
}

/** Marks a tool that shows files of the workspace: its results may hold what strangers have written. */
function distrustFiles(tool: GrantableTool): GrantableTool {
  if (!tool.brings.includes('private_data')) return tool;
  return { ...tool, brings: [...tool.brings, 'untrusted_text'] };
}

/**
 * Creates the registry of a worker: the tools that agents may be granted, then those of triads and teams. An agent may
 * call those of its `allowed_tools`.
 *
 * @throws Error when two tools have one name: that is a fault in the worker's set-up.
 */
export function createToolRegistry(tools: readonly GrantableTool[]): ToolRegistry {
  const registry = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = tool.spec;
    if (Object.hasOwn(stateTools, name)) {
      throw new Error(`"${name}" is the name of a tool that triads or teams have`);
    }
    if (registry.has(name)) throw new Error(`two tools are named "${name}"`);
    registry.set(name, tool);
  }
  for (const tool of Object.values(stateTools)) registry.set(tool.spec.name, tool);
  return registry;
}
