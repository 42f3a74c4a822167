import { spawn } from 'node:child_process';
import { findTemporalCli } from './bootstrap/find-temporal-cli.mjs';
import { partEnvironment, readSettings, temporalAddressOf } from './parts/settings.ts';

/**
 * Runs the Temporal CLI, whichever one planwave uses on this machine, against the server that planwave uses.
 *
 * @param args the CLI's own arguments, such as `['workflow', 'list']`
 * @returns its exit code; 1 when it was ended by a signal
 * @throws {TemporalCliNotFound}
 */
export async function runTemporalCli(args: readonly string[]): Promise<number> {
  const cli = await findTemporalCli();
  const settings = readSettings();
  const env = partEnvironment(settings, temporalAddressOf(settings));
  const child = spawn(cli.path, args, { env, stdio: 'inherit' });
  // Ctrl-C reaches the CLI by the terminal; a signal sent to us alone has to be passed on.
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGTERM', pass).on('SIGINT', pass);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
  } finally {
    process.off('SIGTERM', pass).off('SIGINT', pass);
  }
}
