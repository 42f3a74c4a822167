import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Worker } from 'node:worker_threads';
import { lookup } from 'node:dns/promises';
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { FetchedPage, PageFetcher } from '../../ports/page-fetcher.ts';
import { decodePage } from './decode-page.ts';

type Family = 'ipv4' | 'ipv6';

/** Networks that no page is on: loopback, private, link-local, metadata, documentation, multicast, reserved. */
const closed4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  // The metadata service of Azure is at a public address.
  ['168.63.129.16', 32],
];

/** Parts of 2000::/3 that embed an IPv4 address or are no hosts: Teredo, ORCHID, documentation, 6to4. */
const closed6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const denied = listOf(closed4, 'ipv4', listOf(closed6, 'ipv6', new BlockList()));

/** Only 2000::/3 is handed out. All else is closed: loopback, local, mapped and translated (NAT64) addresses among it. */
const handedOut = listOf([['2000::', 3]], 'ipv6', new BlockList());

function listOf(
  networks: readonly (readonly [string, number])[],
  family: Family,
  list: BlockList,
): BlockList {
  for (const [network, bits] of networks) list.addSubnet(network, bits, family);
  return list;
}

/** Returns true for an address on the public internet that is none of this machine's own. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (family === 'ipv6' && !handedOut.check(address, family)) return false;
  return !denied.check(address, family) && !isOwn(address);
}

function isOwn(address: string): boolean {
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((one) => one.address.toLowerCase() === address.toLowerCase()),
  );
}

/** Maximum characters that are converted: conversion takes about a second for as many. */
const charsMax = 1_000_000;

export interface ConvertOptions {
  /** Default 5,000. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

export interface ConvertedPage {
  readonly title: string;
  readonly text_md: string;
}

/**
 * Converts HTML to Markdown in a thread of its own, with limits of memory and time: deep nesting takes a converter minutes, and
 * in this thread it would stop the worker.
 *
 * @throws Error when the page is too large, or can't be converted within the limits.
 */
export async function convertPage(
  html: string,
  { timeoutMs = 5_000, signal }: ConvertOptions,
): Promise<ConvertedPage> {
  if (html.length > charsMax) {
    throw new Error(`The page has ${html.length} characters; at most ${charsMax} are converted.`);
  }
  const thread = new Worker(new URL('./convert-thread.mjs', import.meta.url), {
    workerData: html,
    resourceLimits: { maxOldGenerationSizeMb: 256, stackSizeMb: 4 },
    env: {},
  });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await new Promise<ConvertedPage>((resolve, reject) => {
      limit.addEventListener('abort', () => reject(tooHard), { once: true });
      thread.once('message', resolve);
      thread.once('error', () => reject(tooHard));
      thread.once('exit', () => reject(tooHard));
    });
  } finally {
    await thread.terminate();
  }
}

const tooHard = new Error('The page could not be converted within the limits of time and memory.');

export interface PageFetcherOptions {
  /** Names of hosts; `*.` stands for all below one. */
  readonly hosts: readonly string[];
  /** Default 2 MB. */
  readonly bytesMax?: number;
  /** Time for one page with its redirects, in milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
  /** Resolves a name to its addresses. Default: the resolver of the system. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Tells which addresses may be connected to. Default: those on the public internet. */
  readonly mayConnect?: (address: string) => boolean;
}

const redirectsMax = 5;

/**
 * Creates a fetcher of pages.
 *
 * WPF1. Only http and https, without user information, to allowed hosts; a literal address is no host.
 * WPF2. A name is resolved once, each of its addresses is checked, and the connection goes to the one that was checked: a
 *      second answer of the name server changes nothing.
 * WPF3. Redirects are followed one by one, each checked like a first request.
 * WPF4. Bytes are counted after they arrive and time from the beginning; beyond either limit the connection is closed.
 * WPF5. No cookies, no credentials and no referrer are sent, and no compression is accepted.
 */
export function createPageFetcher(options: PageFetcherOptions): PageFetcher {
  const { timeoutMs = 15_000 } = options;
  return {
    async fetch(url, signal) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      try {
        return await follow(new URL(url), options, within);
      } catch (error) {
        signal.throwIfAborted();
        if (!within.aborted) throw error;
        const seconds = timeoutMs / 1_000;
        throw new Error(`The page took longer than ${seconds} s.`, { cause: error });
      }
    },
  };
}

async function follow(
  first: URL,
  options: PageFetcherOptions,
  signal: AbortSignal,
): Promise<FetchedPage> {
  let url = first;
  for (let hops = 0; hops <= redirectsMax; hops += 1) {
    checkAddress(url, options.hosts);
    // Each redirect depends on the one before.
    // oxlint-disable-next-line no-await-in-loop
    const response = await open(url, options, signal);
    const { statusCode = 0, headers } = response;
    if (statusCode < 300 || statusCode > 399 || headers.location === undefined) {
      return await readPage(url, response, options, signal);
    }
    response.destroy();
    if (!URL.canParse(headers.location, url.href))
      throw new Error('The page redirects to no address.');
    url = new URL(headers.location, url);
  }
  throw new Error(`The page redirects more than ${redirectsMax} times.`);
}

/** @throws Error for an address that may not be opened. */
function checkAddress(url: URL, hosts: readonly string[]): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`Only http and https are opened, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('An address with a user name or password is not opened.');
  }
  const host = url.hostname.toLowerCase().replace(/\.$/u, '');
  const isLiteral = host.startsWith('[') || isIP(host) !== 0;
  if (!isLiteral && hosts.some((one) => matches(one, host))) return;
  throw new Error(
    `${host} is none of the allowed hosts: ${hosts.join(', ')}. Try: a page of one of them, or PLANWAVE_WEB_HOSTS of the worker.`,
  );
}

function matches(allowed: string, host: string): boolean {
  return allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed;
}

async function resolveName(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

async function open(
  url: URL,
  { resolve = resolveName, mayConnect = isPublicAddress }: PageFetcherOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const addresses = await resolve(url.hostname);
  const [address] = addresses;
  if (address === undefined || !addresses.every(mayConnect)) {
    throw new Error(`${url.hostname} leads to an address that is not on the public internet.`);
  }
  const options: RequestOptions = {
    signal,
    agent: false,
    headers: {
      'accept-encoding': 'identity',
      accept: 'text/html, text/plain, text/markdown',
      'user-agent': 'planwave',
    },
    // The checked address; the name still stands in the header and the certificate.
    lookup: (_host, { all }, callback) => {
      const family = isIP(address);
      if (all === true) callback(null, [{ address, family }]);
      else callback(null, address, family);
    },
  };
  return new Promise((resolveResponse, reject) => {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    request(url, options, resolveResponse).on('error', reject).end();
  });
}

const htmlTypes = ['text/html', 'application/xhtml+xml'];

function typeOf(header: string): string {
  const [type = ''] = header.split(';', 1);
  return type.trim().toLowerCase();
}

/** @returns why the body is not read, or null. */
function findFault({ statusCode = 0, headers }: IncomingMessage, type: string): string | null {
  if (statusCode < 200 || statusCode > 299) return `The server answers ${statusCode}.`;
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (coding !== '' && coding !== 'identity') {
    return `The server sends the page compressed (${coding}), and only uncompressed ones are read.`;
  }
  const isText = type.startsWith('text/') || type === 'application/json';
  if (isText || htmlTypes.includes(type)) return null;
  return `The page is ${type}, and only texts are read.`;
}

async function readPage(
  url: URL,
  response: IncomingMessage,
  { bytesMax = 2_000_000 }: PageFetcherOptions,
  signal: AbortSignal,
): Promise<FetchedPage> {
  const contentType = response.headers['content-type'] ?? 'text/plain';
  const type = typeOf(contentType);
  const fault = findFault(response, type);
  if (fault !== null) {
    response.destroy();
    throw new Error(fault);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) {
      response.destroy();
      throw new Error(`The page has more than ${bytesMax} bytes.`);
    }
    chunks.push(chunk);
  }
  const isHtml = htmlTypes.includes(type);
  const text = decodePage(Buffer.concat(chunks), contentType, isHtml);
  const read = isHtml ? await convertPage(text, { signal }) : { title: '', text_md: text };
  return { url: url.href, ...read, bytes };
}
