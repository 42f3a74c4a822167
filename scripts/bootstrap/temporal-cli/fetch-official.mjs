import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { types } from 'node:util';
import { runCommand } from '../run-command.mjs';
import { cliVersionPreferred } from './probe.mjs';

/** Milliseconds that the host may take to answer; an unreachable host must cost only seconds. */
const answerTimeoutMs = 10_000;
/** Milliseconds that a download may stand still. */
const stallTimeoutMs = 30_000;

/**
 * Downloads the official CLI by the protocol of `@temporalio/testing`: ask for the archive's address, fetch it, unpack
 * it.
 *
 * @param {string} workDir
 * @param {NodeJS.ProcessEnv} env `PLANWAVE_TEMPORAL_DOWNLOAD_URL` names a mirror
 * @returns {Promise<string>} path of the unpacked CLI
 * @throws {Error} with the reason
 */
export async function fetchOfficial(workDir, env) {
  const base = env['PLANWAVE_TEMPORAL_DOWNLOAD_URL'] ?? 'https://temporal.download';
  const url = new URL(`${base}/cli/v${cliVersionPreferred}`);
  url.searchParams.set('arch', process.arch === 'x64' ? 'amd64' : process.arch);
  url.searchParams.set('platform', process.platform === 'win32' ? 'windows' : process.platform);
  url.searchParams.set('format', 'tar.gz');
  /** @type {{ archiveUrl?: unknown, fileToExtract?: unknown }} */
  const { archiveUrl, fileToExtract } = Object(await (await request(url)).json());
  if (typeof archiveUrl !== 'string' || typeof fileToExtract !== 'string') {
    throw new Error(`${url.host} gave an answer without archiveUrl and fileToExtract`);
  }
  const archive = join(workDir, 'temporal.tar.gz');
  await download(new URL(archiveUrl), archive);
  const unpacked = await runCommand('tar', ['-xzf', archive, '-C', workDir, fileToExtract]);
  if (!unpacked.ok) throw new Error(`unpacking failed: ${unpacked.reason}`);
  return join(workDir, fileToExtract);
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
