/** Checks the files of a plan: what each task reads and writes (rules DP10 to DP18 and DP29 of `check-plan-file`). */
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { PlanFinding, PlanTask, CoordinationPlan } from '../../contracts/coordination-plan.ts';
import { checkWorkspacePath, isPrivateName, withoutCure } from '../effects/check-workspace-path.ts';
import { findCycles } from '../schedule/dependencies.ts';
import { listNames } from '../text/list-names.ts';
import { listUpstream } from './graph.ts';

/** A file as one task writes it. */
interface Written {
  readonly path: string;
  readonly task_id: string;
  readonly format: string;
  readonly at: string;
}

interface FileWorld {
  readonly tasks: readonly PlanTask[];
  readonly written: readonly Written[];
  readonly upstream: ReadonlyMap<string, ReadonlySet<string>>;
  /** Tasks of cycles of files, which have findings of their own. */
  readonly inCycle: ReadonlySet<string>;
}

export function checkFiles(plan: CoordinationPlan, agents: readonly AgentSummary[]): PlanFinding[] {
  const { tasks } = plan;
  const written = tasks.flatMap(({ task_id, outputs }, task) =>
    outputs.map(({ path, format }, at) => ({
      path,
      format,
      task_id,
      at: `tasks/${task}/outputs/${at}`,
    })),
  );
  const cycles = findCycles(
    new Map(
      tasks.map(({ task_id, inputs }) => [
        task_id,
        inputs.flatMap(({ from }) => (from === null || from === task_id ? [] : [from])),
      ]),
    ),
  );
  const world = { tasks, written, upstream: listUpstream(tasks), inCycle: new Set(cycles.flat()) };
  return [
    ...checkPaths(plan, agents),
    ...checkOutputs(plan, world),
    ...checkInputs(world),
    ...checkAuthors(plan, agents),
    ...cycles.map((cycle) => ({
      rule: 'DP18',
      path: `tasks/${tasks.findIndex(({ task_id }) => task_id === cycle[0])}/inputs`,
      message: `the files form a cycle: ${cycle.join('→')}`,
      cure: 'Let one of these tasks do without what the other writes, or split it',
    })),
  ];
}

function checkPaths(plan: CoordinationPlan, agents: readonly AgentSummary[]): PlanFinding[] {
  const tools = toolsOf(plan, agents);
  return plan.tasks.flatMap(({ agent, inputs, outputs }, task) => {
    const makesAny = tools.get(agent)?.some((tool) => !ownFileTools.has(tool)) ?? true;
    return Object.entries({ inputs, outputs }).flatMap(([list, files]) =>
      files.flatMap(({ path }, at) => {
        const fault =
          findPathFault(path) ?? (list === 'inputs' ? null : findWriteFault(path, makesAny));
        if (fault === null) return [];
        return [
          {
            rule: 'DP10',
            path: `tasks/${task}/${list}/${at}/path`,
            message: fault,
            cure: 'Write a path such as "agents/database_agent/task_output/schema.sql"',
          },
        ];
      }),
    );
  });
}

function findPathFault(path: string): string | null {
  const isPlain = path.split('/').every((part) => !['', '.', '..'].includes(part.trim()));
  if (isPlain && !/[\\\p{Cc}]|^~|^[A-Za-z]:/u.test(path)) return null;
  return `${JSON.stringify(path)} is no relative path`;
}

/** @param makesAny True for an author with a tool that may write hidden files too. */
function findWriteFault(path: string, makesAny: boolean): string | null {
  const parts = path.split('/');
  if (parts.some(isPrivateName)) return `${JSON.stringify(path)} is private, also for writing`;
  const checked = checkWorkspacePath(path);
  const bare = parts.map((part) => part.replace(/^\./u, '')).join('/');
  if (checked.ok || (makesAny && checkWorkspacePath(bare).ok)) return null;
  return withoutCure(checked.reason);
}

/** Shipped tools that make no file. One of a worker's owner or of an MCP server may make one. */
const readingTools: ReadonlySet<string> = new Set([
  'load_detail',
  'list_files',
  'search_files',
  'read_file',
  'delete_file',
  'git_status',
  'git_diff',
  'web_research',
  'fetch_page',
]);

/** Shipped tools that make no file which is hidden. */
const ownFileTools: ReadonlySet<string> = new Set([...readingTools, 'write_file', 'edit_file']);

/** Returns the folder in which an agent leaves what other tasks read, with "/" at its end. */
const resultsFolderOf = (agent: string): string => `agents/${agent}/task_output/`;

/** Returns the tools of each agent of the roster. One that does not exist has a finding of its own, and is left out. */
function toolsOf(
  { agents: roster, new_agents }: CoordinationPlan,
  agents: readonly AgentSummary[],
): ReadonlyMap<string, readonly string[]> {
  const tools = new Map([
    ...new_agents.map((draft) => [draft.agent_id, draft.tools] as const),
    ...agents.map((known) => [known.agent_id, known.allowed_tools] as const),
  ]);
  return new Map(
    roster.flatMap(({ agent_name, agent_id }) => {
      const own = tools.get(agent_id);
      return own === undefined ? [] : [[agent_name, own] as const];
    }),
  );
}

/** Returns the names of the agents without a tool that makes files. */
export function listReaders(
  plan: CoordinationPlan,
  agents: readonly AgentSummary[],
): ReadonlySet<string> {
  const tools = [...toolsOf(plan, agents)];
  return new Set(
    tools.flatMap(([name, own]) => (own.some((tool) => !readingTools.has(tool)) ? [] : [name])),
  );
}

function checkAuthors(plan: CoordinationPlan, agents: readonly AgentSummary[]): PlanFinding[] {
  const readers = listReaders(plan, agents);
  const names = new Set(plan.agents.map(({ agent_name }) => agent_name));
  return plan.tasks.flatMap(({ agent, outputs }, task) => {
    if (!readers.has(agent)) return [];
    return outputs.flatMap(({ path }, at) =>
      isInAgentsFolder(path, names)
        ? []
        : [
            {
              rule: 'DP29',
              path: `tasks/${task}/outputs/${at}/path`,
              message: `"${agent}" has no tool that makes ${JSON.stringify(path)}`,
              cure: `Give the task to an agent with write_file, or write below "${resultsFolderOf(agent)}"`,
            },
          ],
    );
  });
}

/** Tells whether a path lies in an agent's folder. Other files below agents/ are the user's, such as "agents/till.md". */
function isInAgentsFolder(path: string, names: ReadonlySet<string>): boolean {
  const [top, agent = '', folder, ...rest] = path.split('/');
  if (top !== 'agents') return false;
  // A task_output/ of no agent is a name that was mistyped.
  return names.has(agent) || (folder === 'task_output' && rest.length > 0);
}

function checkOutputs(plan: CoordinationPlan, { written, upstream }: FileWorld): PlanFinding[] {
  const { tasks } = plan;
  const missing = tasks.flatMap(({ task_id, outputs }, at) =>
    outputs.length > 0
      ? []
      : [
          {
            rule: 'DP11',
            path: `tasks/${at}/outputs`,
            message: `"${task_id}" writes no file`,
            cure: 'Name at least one file with its format, so that its verifier has something to see',
          },
        ],
  );
  const names = new Set(plan.agents.map(({ agent_name }) => agent_name));
  const foreign = tasks.flatMap(({ agent, outputs }, task) =>
    outputs.flatMap(({ path }, at) =>
      !isInAgentsFolder(path, names) || path.startsWith(resultsFolderOf(agent))
        ? []
        : [
            {
              rule: 'DP12',
              path: `tasks/${task}/outputs/${at}/path`,
              message: `"${agent}" would write ${JSON.stringify(path)}`,
              cure: `Write below "${resultsFolderOf(agent)}"`,
            },
          ],
    ),
  );
  const isOrdered = (a: Written, b: Written): boolean =>
    (upstream.get(a.task_id)?.has(b.task_id) ?? false) ||
    (upstream.get(b.task_id)?.has(a.task_id) ?? false);
  const clashes = written.flatMap((one, at) => {
    const other = written
      .slice(0, at)
      .find((earlier) => earlier.path === one.path && !isOrdered(earlier, one));
    if (other === undefined) return [];
    return [
      {
        rule: 'DP13',
        path: `${one.at}/path`,
        message: `"${other.task_id}" writes ${JSON.stringify(one.path)} too, and neither comes first`,
        cure: 'Use another path, or let one of the tasks depend on the other',
      },
    ];
  });
  return [...missing, ...foreign, ...clashes];
}

function checkInputs(world: FileWorld): PlanFinding[] {
  return world.tasks.flatMap((reader, task) =>
    reader.inputs.flatMap((input, at) => {
      const place = { input, path: `tasks/${task}/inputs/${at}` };
      return [...checkHandOff(world, reader, place), ...checkVersion(world, reader, place)];
    }),
  );
}

type Place = { readonly input: PlanTask['inputs'][number]; readonly path: string };

/** Finds a task that may write a file between the version that the input names and its reader. */
function checkVersion(
  { written, upstream }: FileWorld,
  { task_id }: PlanTask,
  { input: { path: file, from }, path }: Place,
): PlanFinding[] {
  const isAfter = (id: string, other: string): boolean => upstream.get(id)?.has(other) ?? false;
  const author = written.find(
    (one) =>
      one.path === file &&
      one.task_id !== task_id &&
      (from === null || isAfter(one.task_id, from)) &&
      !isAfter(one.task_id, task_id),
  );
  if (author === undefined) return [];
  const effect = from === null ? 'it may not exist yet' : `what "${from}" wrote may be gone`;
  return [
    {
      rule: 'DP17',
      path: `${path}/from`,
      message: `"${author.task_id}" writes ${JSON.stringify(file)}, so ${effect}`,
      cure: `Name "${author.task_id}" in from and depends_on, or let that task depend on this one`,
    },
  ];
}

function checkHandOff(
  { tasks, written, upstream, inCycle }: FileWorld,
  { task_id }: PlanTask,
  { input, path }: Place,
): PlanFinding[] {
  const { from } = input;
  if (from === null) return [];
  const outputs = written.filter((one) => one.task_id === from);
  const output = outputs.find((one) => one.path === input.path);
  if (output === undefined) {
    const isTask = tasks.some((task) => task.task_id === from);
    return [
      {
        rule: 'DP14',
        path: isTask ? `${path}/path` : `${path}/from`,
        message: isTask
          ? `"${from}" does not write ${JSON.stringify(input.path)}`
          : `the plan has no task "${from}"`,
        cure: isTask
          ? `Name one of its outputs: ${listNames(outputs.map((one) => one.path))}`
          : 'Name the task that writes the file, or null for one that exists already',
      },
    ];
  }
  const findings: PlanFinding[] = [];
  if (!inCycle.has(task_id) && !(upstream.get(task_id)?.has(from) ?? false)) {
    findings.push({
      rule: 'DP15',
      path: `${path}/from`,
      message: `"${task_id}" reads what "${from}" writes, and does not depend on it`,
      cure: `Add "${from}" to depends_on`,
    });
  }
  if (output.format.trim() !== input.format.trim()) {
    findings.push({
      rule: 'DP16',
      path: `${path}/format`,
      message: `"${from}" writes ${JSON.stringify(output.format)}, and "${task_id}" reads ${JSON.stringify(input.format)}`,
      cure: 'Name the same format at both ends',
    });
  }
  return findings;
}
