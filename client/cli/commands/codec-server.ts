import { once } from 'node:events';
import type { Command } from 'commander';
import { isLoopback, serveCodec } from '../../codec-server.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { messageOf } from '../../../core/text/message-of.ts';
import { readPort } from './input-options.ts';

interface Options {
  readonly host: string;
  readonly port: string;
  readonly ui?: readonly string[];
}

/** Registers the command that decrypts for the Temporal Web UI and the Temporal CLI. */
export function registerCodecServer(command: Command, runner: CommandRunner): void {
  command
    .option('--host <address>', 'IP address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on', '8234')
    .option(
      '--ui <origins...>',
      'origins of Web UIs that may ask (default: the one of the embedded server)',
    )
    .action(runner(serve));
}

/** Serves until Ctrl-C or SIGTERM. */
async function serve(context: CommandContext, options: Options): Promise<CommandResult> {
  const { env, io, keys } = context.deps;
  if (keys === undefined || keys.ids.length === 0) {
    throw badInput(
      'PLANWAVE_KEYS is empty: there is nothing to decrypt with. Try: set PLANWAVE_KEYS to the value that the worker uses',
    );
  }
  const token = readToken(env['PLANWAVE_CODEC_TOKEN'] || undefined, options.host);
  const origins = (options.ui ?? embeddedUi(env)).map(readOrigin);
  const port = readPort('--port', options.port);
  const server = await serveCodec({ keys, host: options.host, port, origins, token }).catch(
    (error: unknown) => {
      throw new CliError(
        'cannot_listen',
        exitCodes.unmet,
        `${messageOf(error)}. Try: --host or --port`,
      );
    },
  );
  const who = token === undefined ? 'everyone on this machine' : 'whoever has PLANWAVE_CODEC_TOKEN';
  io.stderr.write(
    `Codec server at ${server.url} for ${who} and pages of ${origins.join(', ')}, with the keys ${keys.ids.join(', ')}. Ctrl-C stops it.\n`,
  );
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await server.close();
  return { data: undefined, lines: [] };
}

function readToken(token: string | undefined, host: string): string | undefined {
  if (token === undefined && !isLoopback(host)) {
    throw badInput(
      `--host ${host} can be reached from other machines, so decrypting needs a token. Try: PLANWAVE_CODEC_TOKEN=$(openssl rand -hex 24)`,
    );
  }
  if (token === undefined || /^[\u0021-\u007e]{16,500}$/u.test(token)) return token;
  throw badInput('PLANWAVE_CODEC_TOKEN: expected at least 16 printable characters without spaces');
}

/** Returns the origins of the Web UI that `npm run dev` starts. */
function embeddedUi(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const port =
    env['PLANWAVE_UI_PORT'] || String(Number(env['PLANWAVE_TEMPORAL_PORT'] || 7233) + 1_000);
  return [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
}

function readOrigin(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).origin;
  throw badInput(
    `--ui: expected an origin, as in http://localhost:8233, got ${JSON.stringify(text)}`,
  );
}
