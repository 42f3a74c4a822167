import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Ref } from '../../../contracts/ref.ts';
import type { CliDeps } from '../cli-deps.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import {
  type CommandContext,
  type CommandResult,
  type CommandRunner,
  resultPath,
} from '../command-runner.ts';
import { describeOtherHome, inHomeOf } from '../other-home.ts';
import { cleanText, cleanLine } from '../terminal-text.ts';
import { showEvaluation } from './eval.ts';
import { isCellOf } from '../../../core/ids.ts';
import { commandText, countOf } from '../../../core/text/format.ts';
import { messageOf } from '../../../core/text/message-of.ts';
import type { RunListing } from '../../run-listing.ts';
import { writeOut } from './json-file.ts';

interface Options {
  readonly full?: boolean;
  readonly html?: string | true;
}

export function registerReport(command: Command, runner: CommandRunner): void {
  command
    .option('--full', 'also print report.md')
    .option('--html [file]', 'write everything about the run as one HTML file; default: <run>.html')
    .action(
      runner((context, run: string, { full = false, html }: Options) =>
        html === undefined ? showReport(context, run, full) : writeHtml(context, run, html),
      ),
    );
}

async function showReport(
  context: CommandContext,
  runId: string,
  full: boolean,
): Promise<CommandResult> {
  const stored = await context.deps.readResult(runId);
  if (stored === null) return (await findEvaluation(context, runId)) ?? whyNoResult(context, runId);
  const { result_md, report_md } = stored;
  const result_path = resultPath(context, stored.result_path);
  const report_path = resultPath(context, stored.report_path);
  const rest = full ? cleanText(report_md).trimEnd() : `report: ${report_path}`;
  return {
    data: { run_id: runId, result_md, report_md, result_path, report_path },
    lines: [cleanText(result_md).trimEnd(), '', rest],
  };
}

/** Shows an evaluation that has ended; null for anything else. */
async function findEvaluation(
  context: CommandContext,
  runId: string,
): Promise<CommandResult | null> {
  const { client } = await context.session();
  const end = await client.result(runId);
  return end?.ended === 'evaluation' ? showEvaluation(end.evaluation) : null;
}

/** Writes the page of a run, ended or not. Needs neither server nor worker. */
async function writeHtml(
  context: CommandContext,
  runId: string,
  file: string | true,
): Promise<CommandResult> {
  const { deps } = context;
  const page = await deps.pages.read(runId);
  if (page === null) throw await whyNoPage(context, runId);
  // No other report has to load it.
  const { renderPage } = await import('../../view/render-page.ts');
  const name = file === true ? `${runId.replaceAll(/[^\w.-]/g, '_')}.html` : file;
  const path = resolve(deps.cwd, name);
  await writeOut(
    path,
    renderPage(page, null),
    'The page',
    '. Try: --html <file> in a folder of yours',
  );
  return {
    data: { run_id: runId, html_path: path },
    lines: [`Everything about ${cleanLine(runId)} is in ${cleanLine(path)}`],
  };
}

/** Explains why a run has no page: it is an evaluation, began nothing, or is kept elsewhere. */
async function whyNoPage(context: CommandContext, runId: string): Promise<CliError> {
  const runs = await context.deps.pages.list();
  const cells = runs.map((one) => one.run_id).filter((id) => isCellOf(runId, id));
  const [first] = cells.toSorted();
  if (first !== undefined) {
    const message =
      `${runId} is an evaluation, and each of its ${countOf(cells.length, 'run')} has a page of its own. ` +
      `Try: ${commandText('report', first, '--html')}`;
    return new CliError('not_found', exitCodes.notFound, message);
  }
  const run = await findListing(context, runId);
  if (run === null) return unknownRun(runId);
  const elsewhere = await describeOtherHome(context, run.store);
  const message =
    elsewhere ??
    `Nothing of run ${runId} is stored here; its workflow is ${run.execution.replaceAll('_', ' ')}. ` +
      `Try: ${commandText('status', runId)}`;
  return new CliError('not_found', exitCodes.notFound, message);
}

/** Reads what the server knows of a run; null also without a server, which no page needs. */
async function findListing(context: CommandContext, runId: string): Promise<RunListing | null> {
  try {
    const { client } = await context.session();
    return await client.describe(runId);
  } catch {
    return null;
  }
}

export function unknownRun(runId: string): CliError {
  const message =
    `No run ${runId} is stored here. Try: ${commandText('view')}, which lists the runs that are, ` +
    'or set PLANWAVE_HOME to the value that the worker uses';
  return new CliError('not_found', exitCodes.notFound, message);
}

/** Explains why there is no result: the run may be unknown, still running, or ended without one. */
async function whyNoResult(context: CommandContext, runId: string): Promise<never> {
  const { client } = await context.session();
  const run = await client.describe(runId);
  const elsewhere = await describeOtherHome(context, run.store);
  const message =
    run.execution === 'running'
      ? `Run ${runId} has not ended, so there is no result yet. Try: ${commandText('watch', runId)}`
      : `No result of run ${runId} is stored here (its workflow is ${run.execution.replaceAll('_', ' ')}). ` +
        (elsewhere ??
          `Try: ${commandText('watch', runId)}, or set PLANWAVE_HOME to the value that the worker uses`);
  throw new CliError('no_result', exitCodes.notFound, message);
}

export function registerExport(command: Command, runner: CommandRunner): void {
  command.action(
    runner(async (context, run: string) => {
      const exported = await inHomeOf(context, run, () => context.deps.exportRun(run));
      return {
        data: { run_id: run, ...exported },
        lines: [`The files of ${run} are in ${cleanLine(exported.path)}`],
      };
    }),
  );
}

interface ArtifactOptions {
  readonly out?: string;
}

export function registerArtifact(command: Command, runner: CommandRunner): void {
  command.option('--out <file>', 'write it into this file, byte for byte').action(
    runner(async ({ deps }, typed: string, { out }: ArtifactOptions) => {
      const address = Ref.safeParse(typed.trim().toLowerCase());
      if (!address.success) {
        throw badInput(
          `${JSON.stringify(typed)} is no address of an artifact: expected 64 hex digits. Try: the whole address, as the files of a run have it`,
        );
      }
      const ref = address.data;
      if (out === undefined) {
        const text = await readArtifact(deps, ref);
        return { data: { ref, text }, lines: [cleanText(text).trimEnd()] };
      }
      const path = resolve(deps.cwd, out);
      const content = await readBytes(deps, ref);
      await writeOut(path, content, 'The artifact', '. Try: --out <file> in a folder of yours');
      const bytes = content.byteLength;
      return { data: { ref, path, bytes }, lines: [`${cleanLine(path)} (${bytes} bytes)`] };
    }),
  );
}

/** Reads a stored text. @throws CliError when it is no text, or not in the artifact home of this machine. */
export async function readArtifact(deps: CliDeps, ref: string): Promise<string> {
  const content = await readBytes(deps, ref);
  if (isUtf8(content) && !content.includes(0)) return Buffer.from(content).toString();
  throw badInput(
    `${ref} is no text: it has ${content.byteLength} bytes of another kind. Try: ${commandText('artifact', ref, '--out', 'artifact.bin')}`,
  );
}

async function readBytes({ readArtifact: read }: CliDeps, ref: string): Promise<Uint8Array> {
  try {
    if (read === undefined) throw new Error('There is no store here.');
    return await read(ref);
  } catch (error) {
    // The store's own cure is for the worker of a run.
    const [why = ''] = messageOf(error).replace(/\.$/, '').split('. Try: ');
    const message = `${why}. Try: the whole address, as the files of a run have it, or set PLANWAVE_HOME to the value that the worker uses`;
    throw new CliError('no_artifact', exitCodes.notFound, message);
  }
}
