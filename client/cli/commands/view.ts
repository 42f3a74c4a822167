import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Command } from 'commander';
import { serveView } from '../../view/serve-view.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { safeJson } from '../terminal-text.ts';
import { unknownRun } from './report.ts';
import { signatureOf } from '../ask/answers.ts';
import { addOptions, readPort, signerOption } from './input-options.ts';

interface Options {
  readonly port?: string;
  readonly as?: string;
}

export function registerView(command: Command, runner: CommandRunner): void {
  addOptions(command, [signerOption])
    .option('--port <port>', 'port of loopback; default: any free one')
    .action(runner(view));
}

/** Serves pages of runs until Ctrl-C. The server of Temporal is needed only when something is answered. */
async function view(
  context: CommandContext,
  run: string | undefined,
  { port = '0', as: signer }: Options,
): Promise<CommandResult> {
  const runId = run ?? null;
  const { deps, json } = context;
  const { pages } = deps;
  if (runId !== null && (await pages.read(runId)) === null) throw unknownRun(runId);
  const server = await serveView(
    {
      listRuns: pages.list,
      readPage: pages.read,
      readVersion: pages.readVersion,
      answer: async (ofRun, answer) => {
        const { client } = await context.session();
        return client.answer(ofRun, { ...answer, ...signatureOf(signer) });
      },
    },
    { port: readPort('--port', port), token: randomBytes(24).toString('hex'), runId },
  );
  deps.io.stdout.write(
    json
      ? `${safeJson({ run_id: runId, url: server.url })}\n`
      : `Open ${server.url}\nThe address holds a key: who has it can read and answer. Ctrl-C ends it.\n`,
  );
  const ended = new AbortController();
  const dispose = deps.io.onInterrupt(() => ended.abort());
  await Promise.race([
    once(ended.signal, 'abort'),
    once(process, 'SIGTERM', { signal: ended.signal }).catch(() => undefined),
  ]);
  ended.abort();
  dispose();
  await server.close();
  return { data: undefined, lines: [] };
}
