import { pathToFileURL } from 'node:url';
import { PortInUse, serverName, startRehearsalServer } from './server.ts';

const portDefault = 8787;
const portMax = 65_535;

/** Exit code for bad settings, as for every command of planwave. */
const exitBadSettings = 2;

function readNumber(name: string, fallback: number, max: number): number {
  const text = process.env[name];
  if (text === undefined || text === '') return fallback;
  if (/^\d+$/u.test(text) && Number(text) <= max) return Number(text);
  console.error(`${name} is "${text}": expected a whole number from 0 to ${max}.`);
  return process.exit(exitBadSettings);
}

/** Returns true when the process on the port is a rehearsal model too. */
async function isRehearsal(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    return response.headers.get('server') === serverName;
  } catch {
    return false;
  }
}

async function explainPortInUse(host: string, port: number): Promise<string> {
  const holder = (await isRehearsal(`http://${host}:${port}`))
    ? 'Another rehearsal model listens there; it can be used as it is.'
    : `Another program listens there; "lsof -i :${port}" names it.`;
  const other = port < portMax ? port + 1 : portDefault;
  return `Port ${port} is in use. ${holder} Choose another one with PLANWAVE_REHEARSAL_PORT=${other}.`;
}

/**
 * Runs the rehearsal model until SIGINT or SIGTERM.
 *
 * Settings: `PLANWAVE_REHEARSAL_PORT` (default 8787), `PLANWAVE_REHEARSAL_HOST` (default 127.0.0.1),
 * `PLANWAVE_REHEARSAL_THINK_MS` (default 150), `PLANWAVE_REHEARSAL_SCRIPTABLE` (`1` opens the paths for tests).
 * Ends the process with 1 when the port is in use, with 2 when a setting is wrong.
 */
export async function runRehearsal(): Promise<void> {
  const port = readNumber('PLANWAVE_REHEARSAL_PORT', portDefault, portMax);
  const thinkMs = readNumber('PLANWAVE_REHEARSAL_THINK_MS', 150, 600_000);
  const host = process.env['PLANWAVE_REHEARSAL_HOST'] || '127.0.0.1';
  const scriptable = process.env['PLANWAVE_REHEARSAL_SCRIPTABLE'] === '1';
  try {
    const options = { port, host, thinkMs, scriptable, keepsCalls: scriptable };
    const server = await startRehearsalServer(options);
    console.log(`The rehearsal model listens on ${server.url}`);
    console.log(`Point planwave at it with ANTHROPIC_BASE_URL=${server.url}`);
    const stop = (): void => {
      void server.close().then(() => process.exit(0));
    };
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
  } catch (error) {
    if (!(error instanceof PortInUse)) throw error;
    console.error(await explainPortInUse(host, port));
    process.exit(1);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await runRehearsal();
