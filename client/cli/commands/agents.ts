import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import type { NewAgent } from '../../../contracts/coordination-plan.ts';
import { countOf, commandText } from '../../../core/text/format.ts';
import { listNames } from '../../../core/text/list-names.ts';
import type { CliDeps, LoadedAgents } from '../cli-deps.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import { confirm } from '../cli-io.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { readPlanFile } from './plan-file.ts';
import { cleanLine, cleanText, renderTable } from '../terminal-text.ts';
import { readInputText } from './json-file.ts';
import { messageOf } from '../../../core/text/message-of.ts';

interface AgentsOption {
  readonly agents?: string;
}

interface AddOptions {
  readonly to: string;
  readonly yes?: boolean;
}

/** Registers the commands for agents. None of them asks the server. */
export function registerAgents(agents: Command, runner: CommandRunner): void {
  agents.enablePositionalOptions();
  const own = ['--agents <folder>', 'folder with your own agents'] as const;
  agents
    .command('list')
    .description('list the agents that a run would have')
    .option(...own)
    .action(runner(listAgents));
  agents
    .command('show')
    .argument('<agent>', 'name of the agent')
    .description('show what an agent is for, what it may do, and its prompt')
    .option(...own)
    .action(runner(showAgent));
  agents
    .command('check')
    .argument('<path>', "an agent's file, or a folder of them")
    .description('list everything that would stop a run with these agents, with file and line')
    .action(runner(checkAgents));
  agents
    .command('add')
    .argument('<file>', "an agent's file, or a plan with drafts of agents")
    .description('show new agents and write them into a folder, after a confirmation')
    .requiredOption('--to <folder>', 'folder with agents of your own; created if it is missing')
    .option('--yes', 'do not ask for confirmation')
    .action(runner(addAgents));
}

async function loadOrThrow(deps: CliDeps, { agents: dir }: AgentsOption): Promise<LoadedAgents> {
  const loaded = await deps.agents.load(dir === undefined ? null : resolve(deps.cwd, dir));
  if (loaded.faults.length === 0) return loaded;
  throw badInput(loaded.faults.map(({ path, reason }) => `${path}: ${reason}`).join('\n'));
}

async function listAgents({ deps }: CommandContext, options: AgentsOption): Promise<CommandResult> {
  const { agents } = await loadOrThrow(deps, options);
  const rows = agents.map(({ agent_id, source, risk_level, allowed_tools, description }) => [
    agent_id,
    source,
    risk_level,
    cleanLine(allowed_tools.join(', ') || 'none', 40),
    cleanLine(description, 60),
  ]);
  return {
    data: { agents: agents.map(({ prompt: _prompt, ...rest }) => rest) },
    lines: renderTable(['agent', 'from', 'risk', 'tools', 'for'], rows),
  };
}

async function showAgent(
  { deps }: CommandContext,
  name: string,
  options: AgentsOption,
): Promise<CommandResult> {
  const { agents } = await loadOrThrow(deps, options);
  const agent = agents.find(({ agent_id }) => agent_id === name);
  if (agent === undefined) {
    const known = listNames(agents.map(({ agent_id }) => agent_id));
    throw new CliError(
      'not_found',
      exitCodes.notFound,
      `There is no agent ${listNames([name])}. Agents are: ${known}`,
    );
  }
  const { agent_id, source, description, capabilities, allowed_tools, risk_level } = agent;
  return {
    data: agent,
    lines: [
      cleanLine(`${agent_id} (${source}, risk ${risk_level})`),
      cleanLine(description),
      cleanLine(`tools: ${allowed_tools.join(', ') || 'none'}`),
      cleanLine(`capabilities: ${capabilities.join(', ') || 'none'}`),
      cleanLine(`model: ${agent.model ?? 'default of the worker'}`),
      '',
      cleanText(agent.prompt).trimEnd(),
    ],
  };
}

async function checkAgents({ deps }: CommandContext, path: string): Promise<CommandResult> {
  const where = resolve(deps.cwd, path);
  const isFolder = await stat(where).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const files = isFolder ? (await readdir(where)).filter((name) => /\.md$/i.test(name)) : [path];
  const inFolder = isFolder ? (await deps.agents.load(where)).faults : [];
  const shape = inFolder.map(({ path: place, reason }) => `${place}: ${reason}`);
  const faults: string[] = [...shape];
  const leftOut: string[] = [];
  // A file that can't be read is a fault of the folder.
  for (const name of isFolder && shape.length > 0 ? [] : files) {
    const file = isFolder ? join(where, name) : name;
    const text = await readInputText(deps, file);
    if (!isFolder) faults.push(...(await checkText(deps, { name, text })));
    const lacks = await deps.agents.findLacks(text);
    faults.push(...lacks.faults.map(({ line, reason }) => `${file}:${line}: ${reason}`));
    leftOut.push(...lacks.leftOut.map(({ line, reason }) => `${file}:${line}: ${reason}`));
  }
  const ok = faults.length === 0;
  const verdict = ok
    ? `${path}: ${countOf(files.length, 'file')}, no fault.`
    : `${countOf(faults.length, 'fault')}.`;
  return {
    data: { ok, faults, left_out: leftOut },
    lines: [...faults, ...leftOut, verdict].map((one) => cleanLine(one, 600)),
    exitCode: ok ? exitCodes.ok : exitCodes.unmet,
  };
}

async function checkText({ agents }: CliDeps, { name, text }: AddedFile): Promise<string[]> {
  return (await agents.check(text)).map(({ line, reason }) => `${name}:${line}: ${reason}`);
}

/** Text of an agent's file, with the name that the file gets. */
interface AddedFile {
  readonly name: string;
  readonly text: string;
}

async function addAgents(
  context: CommandContext,
  file: string,
  { to, yes }: AddOptions,
): Promise<CommandResult> {
  const { deps, json } = context;
  const added = await readAdded(deps, file);
  const faults = (await Promise.all(added.map((one) => checkText(deps, one)))).flat();
  if (faults.length > 0) throw badInput(faults.join('\n'));
  const folder = resolve(deps.cwd, to);
  const names = added.map(({ name }) => name);
  if (yes !== true) {
    if (json || !deps.io.isTerminal) {
      const command = commandText('agents', 'add', file, '--to', to, '--yes');
      throw badInput(
        `Without a terminal, --yes has to confirm that ${listNames(names)} may be written. Try: ${command}`,
      );
    }
    for (const { name, text } of added) {
      deps.io.stdout.write(`${name}:\n\n${cleanText(text).trimEnd()}\n\n`);
    }
    const question = `Write ${countOf(added.length, 'file')} into ${cleanLine(folder)}?`;
    if (!(await confirm(deps.io, question))) {
      return { data: { added: [] }, lines: ['Nothing was written.'] };
    }
  }
  const written = await writeNew(folder, added);
  return {
    data: { added: written },
    lines: [
      ...written.map((path) => `Written: ${cleanLine(path)}`),
      `Use them with: ${commandText('start', '--agents', to, '…')}`,
    ],
  };
}

/** @throws CliError when the file is neither an agent's file nor a plan that drafts agents */
async function readAdded(deps: CliDeps, file: string): Promise<AddedFile[]> {
  const text = await readInputText(deps, file);
  if (/^\uFEFF?---\s*$/m.test(text.split('\n', 1)[0] ?? '')) {
    const name = /^name:\s*["']?([a-z0-9][a-z0-9_-]{0,39})["']?\s*$/m.exec(text)?.[1];
    if (name !== undefined) return [{ name: `${name}.md`, text }];
    throw badInput(`${file}: expected a line "name: …" with a name of lower-case letters`);
  }
  const { plan, findings } = readPlanFile(text);
  if (plan === null) {
    const [first] = findings;
    const why = first === undefined ? '' : ` Line ${first.line}: ${first.message}.`;
    throw badInput(`${file} is neither an agent's file nor a plan.${why}`);
  }
  if (plan.new_agents.length === 0) {
    throw badInput(`${file} drafts no agents. Try: a plan with new_agents, or an agent's file`);
  }
  return plan.new_agents.map((draft) => ({
    name: `${draft.agent_id}.md`,
    text: writeAgentFile(draft),
  }));
}

/** @throws CliError, before anything is written, when a file exists already */
async function writeNew(folder: string, added: readonly AddedFile[]): Promise<string[]> {
  const paths = added.map(({ name }) => join(folder, name));
  for (const path of paths) {
    const exists = await stat(path).then(
      () => true,
      () => false,
    );
    if (exists) throw badInput(`${path} exists already. Try: another folder, or remove it first`);
  }
  try {
    await mkdir(folder, { recursive: true });
    for (const { name, text } of added) await writeFile(join(folder, name), text, { flag: 'wx' });
  } catch (error) {
    throw badInput(`The files can't be written: ${messageOf(error)}`);
  }
  return paths;
}

/** Writes the draft of an agent as a file that `--agents` reads. */
export function writeAgentFile({ agent_id, prompt, ...rest }: NewAgent): string {
  const { description, capabilities, tools, risk_level } = rest;
  const head = stringify(
    { name: agent_id, description, capabilities, tools, risk_level },
    { lineWidth: 0 },
  );
  return `---\n${head}---\n\n${prompt.trim()}\n`;
}
