import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { AgentSummary } from '../../../contracts/agent-definition.ts';
import type { CoordinationPlan, PlanFinding } from '../../../contracts/coordination-plan.ts';
import { Ref } from '../../../contracts/ref.ts';
import { checkCoordinationPlan } from '../../../core/design/check-plan-file.ts';
import { diffPlans } from '../../../core/design/diff-plans.ts';
import { drawSvg } from '../../../core/design/draw-plan.ts';
import { drawMermaid } from '../../../core/design/graph.ts';
import { onlyLeads } from '../../../core/team/summarise-teams.ts';
import { countOf, commandText } from '../../../core/text/format.ts';
import type { CliDeps } from '../cli-deps.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { describeDifference } from './plan-difference.ts';
import { createPlanSchema, readPlanFile, writePlanFile } from './plan-file.ts';
import { describeFindings } from './yaml-file.ts';
import { cleanLine, cleanText } from '../terminal-text.ts';
import { writeAgentFile } from './agents.ts';
import { readInputText, writeOut } from './json-file.ts';
import { readArtifact } from './report.ts';
import { addOptions } from './input-options.ts';
import { readRunInput, runOptions, startRun, type RunOptions } from './start.ts';

interface OutOption {
  readonly out?: string;
}

interface GraphOptions extends OutOption {
  readonly mermaid?: boolean;
}

const planArgument =
  'YAML or JSON file, or the id of a designed run, with "@2" for its second version, or the address of a version that ' +
  'waits for approval; "-" reads standard input';

/** Registers the commands for plans as files. Only `run` asks the server. */
export function registerPlan(plan: Command, runner: CommandRunner): void {
  plan.enablePositionalOptions();
  plan
    .command('export')
    .argument('<run>', 'id of a designed run')
    .description('print the plan of a run as commented YAML, to edit and run again')
    .option('--out <file>', 'write it into this file')
    .action(
      runner(async ({ deps }, run: string, options: OutOption) => {
        const exported = await readPlanOfRun(deps, run);
        return printOrWrite(deps, writePlanFile(exported), options, {
          run_id: run,
          plan: exported,
        });
      }),
    );
  plan
    .command('check')
    .argument('<file>', 'YAML or JSON file; "-" reads standard input')
    .description('list everything in a plan that would stop it, with line and column')
    .option('--agents <folder>', 'folder with your own agents')
    .action(
      runner(async ({ deps }, file: string, options: { readonly agents?: string }) => {
        const { result } = await checkPlanFile(deps, file, options);
        return result;
      }),
    );
  const run = plan
    .command('run')
    .argument('<file>', 'YAML or JSON file; "-" reads standard input')
    .description('check a plan, and start a run that carries it out');
  addOptions(run, runOptions).action(runner(runPlan));
  plan
    .command('diff')
    .argument('<before>', planArgument)
    .argument('<after>', planArgument)
    .description('list the differences between two plans')
    .action(runner(comparePlans));
  plan
    .command('graph')
    .argument('<plan>', planArgument)
    .description('draw the tasks and dependencies of a plan as SVG')
    .option('--mermaid', 'print the text of a Mermaid flowchart instead')
    .option('--out <file>', 'write it into this file')
    .action(
      runner(async ({ deps }, name: string, options: GraphOptions) => {
        const drawn = await readPlan(deps, name);
        const text = options.mermaid === true ? `${drawMermaid(drawn)}\n` : drawSvg(drawn);
        return printOrWrite(deps, text, options, { graph: text });
      }),
    );
  plan
    .command('schema')
    .description('print the JSON Schema of a plan, for editors')
    .option('--out <file>', 'write it into this file')
    .action(
      runner(({ deps }, options: OutOption) => {
        const schema = createPlanSchema();
        return printOrWrite(deps, `${JSON.stringify(schema, null, 2)}\n`, options, schema);
      }),
    );
}

async function printOrWrite(
  { cwd }: CliDeps,
  text: string,
  { out }: OutOption,
  data: object,
): Promise<CommandResult> {
  if (out === undefined) return { data, lines: [cleanText(text).trimEnd()] };
  const path = resolve(cwd, out);
  await writeOut(path, text, 'The file');
  return { data: { file: path }, lines: [`Written: ${cleanLine(path)}`] };
}

interface CheckedPlan {
  /** Null when the file has findings. */
  readonly plan: CoordinationPlan | null;
  readonly result: CommandResult;
}

/** @param options with `check: false` only the form of the plan is checked. */
async function checkPlanFile(
  deps: CliDeps,
  name: string,
  { agents, check }: Pick<RunOptions, 'agents' | 'check'>,
): Promise<CheckedPlan> {
  const file = readPlanFile(await readInputText(deps, name));
  const { plan } = file;
  const isLeft = plan === null || check === false;
  const findings = isLeft ? file.findings : file.place(await findFaults(deps, plan, agents));
  const shown = name === '-' ? 'standard input' : name;
  const ok = plan !== null && findings.length === 0;
  const data = { file: shown, ok, findings };
  if (ok) {
    const size = `${countOf(plan.tasks.length, 'task')}, ${countOf(plan.agents.length, 'agent')}`;
    return { plan, result: { data, lines: [cleanLine(`${shown}: ${size}, no finding.`)] } };
  }
  const lines = [
    ...describeFindings(shown, findings),
    `${countOf(findings.length, 'finding')}. The plan can't run like this.`,
  ];
  return { plan: null, result: { data, lines, exitCode: exitCodes.unmet } };
}

/** Starts a run that carries the plan of a file out. A plan with findings starts nothing. */
async function runPlan(
  context: CommandContext,
  name: string,
  options: RunOptions,
): Promise<CommandResult> {
  const { plan, result } = await checkPlanFile(context.deps, name, options);
  if (plan === null) return result;
  const input = await readRunInput(context.deps, plan.goal, options);
  return startRun(context, { ...input, plan }, options);
}

/** Finds everything that would stop a plan on this machine: its own faults, and those of its agents. */
async function findFaults(
  { agents, cwd }: CliDeps,
  plan: CoordinationPlan,
  agentsDir: string | undefined,
): Promise<PlanFinding[]> {
  const loaded = await agents.load(agentsDir === undefined ? null : resolve(cwd, agentsDir));
  const [fault] = loaded.faults;
  if (fault !== undefined) {
    const faults = loaded.faults.map(({ path, reason }) => `${path}: ${reason}`).join('; ');
    const again = commandText('agents', 'check', agentsDir ?? fault.path);
    throw badInput(`The agents can't be read. ${faults}. Try: ${again}`);
  }
  const summaries = loaded.agents.map((agent): AgentSummary => {
    const { agent_id, allowed_tools, risk_level } = agent;
    return { agent_id, allowed_tools, risk_level, ...(onlyLeads(agent) && { only_leads: true }) };
  });
  const drafts: PlanFinding[] = [];
  for (const [at, draft] of plan.new_agents.entries()) {
    for (const { reason } of await agents.check(writeAgentFile(draft))) {
      drafts.push({
        rule: 'agent',
        path: `new_agents/${at}`,
        message: `the draft of "${draft.agent_id}" is no agent: ${reason}`,
        cure: 'Correct the draft',
      });
    }
  }
  return [...checkCoordinationPlan(plan, { agents: summaries }), ...drafts];
}

/** @throws CliError when there is neither such a file, address nor run, or the text is no plan */
async function readPlan(deps: CliDeps, name: string): Promise<CoordinationPlan> {
  const address = Ref.safeParse(name);
  const text = address.success
    ? await readArtifact(deps, address.data)
    : await readInputText(deps, name).catch((error: unknown) =>
        // The id of a run is no path, and names of files have a dot as a rule.
        runName.test(name) && name !== '-' ? null : Promise.reject(error),
      );
  if (text === null) return readPlanOfRun(deps, name);
  const { plan, findings } = readPlanFile(text);
  if (plan !== null) return plan;
  throw badInput(describeFindings(name, findings).join('\n'));
}

/** Id of a run, that of a schedule with its time, and perhaps the number of a version of its plan. */
const runName = /^(?<run>[\w-]+(?:T\d\d:\d\d:\d\dZ)?)(?:@(?<version>[1-9]\d{0,3}))?$/;

async function readPlanOfRun(deps: CliDeps, name: string): Promise<CoordinationPlan> {
  const { run: runId = name, version } = runName.exec(name)?.groups ?? {};
  const plan = await deps.readPlan(runId, version === undefined ? undefined : Number(version));
  if (plan !== null) return plan;
  if (version !== undefined) {
    throw new CliError(
      'no_plan',
      exitCodes.notFound,
      `The plan of ${runId} has no version ${version}. Try: ${commandText('plan', 'export', runId)}`,
    );
  }
  throw new CliError(
    'no_plan',
    exitCodes.notFound,
    `Run ${runId} has no coordination plan: it is not designed, or its design is not that far. Try: ${commandText('status', runId)}`,
  );
}

async function comparePlans(
  { deps, paint }: CommandContext,
  before: string,
  after: string,
): Promise<CommandResult> {
  const differences = diffPlans(await readPlan(deps, before), await readPlan(deps, after));
  if (differences.length === 0) {
    return { data: { differences }, lines: ['The plans are equal.'] };
  }
  const lines = differences.flatMap((one) => [
    paint('strong', cleanLine(`${one.kind} ${one.path}`)),
    ...describeDifference(one).map((line) => paint(line.startsWith('-') ? 'bad' : 'good', line)),
  ]);
  return { data: { differences }, lines };
}
