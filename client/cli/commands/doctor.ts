import { countOf } from '../../../core/text/format.ts';
import type { Command } from 'commander';
import { readKeyRing } from '../../../encryption/key-ring.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { taskQueueOf } from '../../connect.ts';
import type { DoctorCheck, DoctorFinding, ReplayedWorkflow } from '../cli-deps.ts';
import { exitCodes } from '../cli-error.ts';
import { cleanLine } from '../terminal-text.ts';
import { createServerChecks, toFinding } from './server-checks.ts';

export function registerDoctor(command: Command, runner: CommandRunner): void {
  command
    .option('--replay', 'replay all open runs on this version and report incompatibilities')
    .option('--notify', 'send a test message with PLANWAVE_NOTIFY of this shell')
    .action(
      runner((context, { replay = false, notify = false }: Options) =>
        notify
          ? testNotification(context)
          : replay
            ? replayOpenWorkflows(context)
            : examine(context),
      ),
    );
}

interface Options {
  readonly replay?: boolean;
  readonly notify?: boolean;
}

interface CheckResult extends DoctorFinding {
  readonly name: string;
}

async function examine(context: CommandContext): Promise<CommandResult> {
  return runChecks(context, [...(await serverChecks(context)), ...context.deps.doctorChecks]);
}

/** Needs no server and no worker. */
async function testNotification(context: CommandContext): Promise<CommandResult> {
  const { notificationTest } = context.deps;
  return runChecks(context, notificationTest === undefined ? [] : [notificationTest]);
}

async function runChecks(
  context: CommandContext,
  checks: readonly DoctorCheck[],
): Promise<CommandResult> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    results.push({ name: check.name, ...(await runCheck(check)) });
  }
  const ok = results.every((result) => result.ok);
  return {
    data: { ok, checks: results },
    lines: [...results.flatMap((result) => describeResult(context, result)), verdict(results)],
    exitCode: ok ? exitCodes.ok : exitCodes.unmet,
  };
}

/** Without a server there is one finding, not four. */
async function serverChecks(context: CommandContext): Promise<readonly DoctorCheck[]> {
  try {
    const { env, findStore, keys = readKeyRing(undefined) } = context.deps;
    return createServerChecks(
      await context.session(),
      taskQueueOf(env),
      findStore ?? (() => Promise.resolve(null)),
      keys,
    );
  } catch (error) {
    return [{ name: 'Temporal server', run: () => Promise.resolve(toFinding(error)) }];
  }
}

async function runCheck(check: DoctorCheck): Promise<DoctorFinding> {
  try {
    return await check.run();
  } catch (error) {
    const { detail, ...rest } = toFinding(error);
    return { ...rest, detail: `could not be checked: ${detail}` };
  }
}

function describeResult({ paint }: CommandContext, result: CheckResult): string[] {
  const mark = result.ok ? paint('good', '✓') : paint('bad', '✗');
  return [
    `${mark} ${cleanLine(result.name)}: ${cleanLine(result.detail)}`,
    ...(result.ok || result.cure === undefined ? [] : [`    cure: ${cleanLine(result.cure)}`]),
  ];
}

function verdict(results: readonly CheckResult[]): string {
  const failed = results.filter((result) => !result.ok).length;
  return failed === 0 ? 'Everything is ready.' : `${failed} of ${results.length} checks failed.`;
}

/** Runs `doctor --replay`: checks that the code of this checkout can carry on every open run. */
async function replayOpenWorkflows(context: CommandContext): Promise<CommandResult> {
  const { client } = await context.session();
  const broken: ReplayedWorkflow[] = [];
  let count = 0;
  for await (const replayed of context.deps.replayHistories(
    client.openHistories(),
    client.namespace,
  )) {
    count += 1;
    if (replayed.fault !== null) broken.push(replayed);
  }
  const ok = broken.length === 0;
  const found = broken.map(({ workflowId, fault }) => ({
    workflow_id: workflowId,
    fault: cleanLine(fault ?? '', 300),
  }));
  const summary = `${countOf(count, 'open workflow')} replayed, ${broken.length} would break`;
  const cure = `${context.paint('attention', 'cure:')} a patch (docs/deploys.md), or a worker version of its own for the new code`;
  return {
    data: { ok, replayed: count, broken: found },
    lines: [
      ...found.map(({ workflow_id, fault }) => {
        return `${context.paint('bad', '✗')} ${cleanLine(workflow_id)}: ${fault}`;
      }),
      `${summary}.`,
      ...(ok ? [] : [`    ${cure}`]),
    ],
    exitCode: ok ? exitCodes.ok : exitCodes.unmet,
  };
}
