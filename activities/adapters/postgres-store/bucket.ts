import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { types } from 'node:util';
import type { AwsClient } from 'aws4fetch';
import type { Ref } from '../../../contracts/ref.ts';
import { StoreUnavailable } from '../../ports/artifact-store.ts';
import { getCode } from '../file-store/store-errors.ts';
import { listArtifacts } from './list-artifacts.ts';

/** Address and keys of a bucket. */
export interface BucketSettings {
  /** `s3://bucket/prefix?endpoint=https://host&region=name`. Without an endpoint, that of AWS in the region. */
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** Region without one in the address. */
  readonly region?: string | undefined;
}

/** Object that an artifact was stored in. */
export interface StoredObject {
  /** Name that `put` returned. */
  readonly object: string;
  readonly ref: Ref;
  readonly bytes: number;
  /** Unix epoch milliseconds, by the clock of the service. */
  readonly storedAt: number;
}

/** A bucket of any service that speaks S3. */
export interface Bucket {
  /** Its address, without keys and endpoint. */
  readonly place: string;
  /**
   * Stores bytes in a new object.
   *
   * @param owner Id of the store, a part of the name: several may share a bucket.
   * @returns the object's name.
   * @throws {StoreUnavailable}
   */
  put(ref: Ref, bytes: Uint8Array, owner: string): Promise<string>;
  /** Lists the objects of a store. Those that are written meanwhile may be left out. @throws {StoreUnavailable} */
  list(owner: string): AsyncIterable<StoredObject>;
  /**
   * Returns an object's bytes; null when it is gone.
   *
   * @throws {StoreUnavailable} also for the name of an object in another bucket.
   */
  get(object: string): Promise<Buffer | null>;
  /** Removes an object, if it is there. @throws {StoreUnavailable} */
  remove(object: string): Promise<void>;
  /** Stores an object that means nothing, to find out whether the keys may. @throws {StoreUnavailable} */
  tryWrite(): Promise<void>;
  /** Reads that object, if it is there. @throws {StoreUnavailable} */
  tryRead(): Promise<void>;
}

/** Milliseconds before a request is repeated whose answer did not come, or was one of an overloaded service. */
const repeatAfterMs: readonly number[] = [50, 300, 1_500];

/** Milliseconds for a request and its answer, and for each MB of it. */
const requestMs = { base: 20_000, megabyte: 2_000 };

/** Most bytes that AWS takes in one request. */
const objectBytesMax = 5_000_000_000;

const probe = 'planwave-probe';
const keys = 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
const setting = 'PLANWAVE_ARTIFACTS_URL';

/**
 * Opens a bucket. Nothing is sent, and the client is not loaded, before the first use.
 *
 * SQB1. Each object is written once, under a name that no other writer uses: one that is removed is nobody else's.
 * SQB2. The service compares what it gets with its SHA-256, which is part of the signed request.
 * SQB3. A request is repeated when it was cut off, or when the service is overloaded.
 * SQB4. A list has the objects of one store below this prefix, and no other.
 */
export function openBucket(settings: BucketSettings): Bucket {
  const { name, prefix, endpoint, region } = readAddress(settings);
  const place = `s3://${[name, prefix].filter((part) => part !== '').join('/')}`;
  let client: Promise<AwsClient> | null = null;

  async function send(method: string, key: string, ref?: Ref, body?: Uint8Array): Promise<Answer> {
    const doing = method === 'GET' ? 'read' : 'write';
    client ??= openClient(settings, region);
    const s3 = await client;
    const url = `${endpoint}/${name}/${key}`;
    for (const waitMs of [...repeatAfterMs, null]) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- repeated
        const answer = await sendOnce(s3, url, { method, ref, body });
        if (!isOverload(answer.status) || waitMs === null) return answer;
      } catch (error) {
        if (waitMs === null) throw unreachable(doing, place, error);
      }
      // oxlint-disable-next-line no-await-in-loop
      await sleep(waitMs);
    }
    throw new Error('unreachable');
  }

  async function putObject(key: string, ref: Ref | undefined, bytes: Uint8Array): Promise<void> {
    const answer = await send('PUT', key, ref, bytes);
    if (answer.status !== 200) throw refused('write', place, answer);
  }

  async function getObject(key: string): Promise<Buffer | null> {
    const answer = await send('GET', key);
    if (answer.status === 200) return answer.bytes;
    if (answer.status === 404 && codeOf(answer) !== 'NoSuchBucket') return null;
    throw refused('read', place, answer);
  }

  async function ask(query: string): Promise<string> {
    const answer = await send('GET', query);
    if (answer.status !== 200) throw refused('list', place, answer);
    return answer.bytes.toString('utf8');
  }

  const keyOf = (object: string): string => {
    if (object.startsWith(`${name}/`)) return object.slice(name.length + 1);
    throw new StoreUnavailable(
      `An artifact is in "s3://${object}", and ${setting} names "${place}" here. ` +
        `Try: give all workers and clients the same ${setting}. The run waits and continues by itself.`,
      { path: place, code: null },
    );
  };
  const inPrefix = (key: string): string => (prefix === '' ? key : `${prefix}/${key}`);

  return {
    place,
    put: async (ref, bytes, owner) => {
      if (bytes.byteLength > objectBytesMax) throw new Error('An artifact is larger than 5 GB.');
      const key = inPrefix(`${ref.slice(0, 2)}/${ref}/${owner}-${randomUUID()}`);
      await putObject(key, ref, bytes);
      return `${name}/${key}`;
    },
    async *list(owner) {
      // The prefix is part of an address, where some characters are escaped.
      const folder = decodeURIComponent(inPrefix(''));
      for await (const { path, ...artifact } of listArtifacts(folder, ask)) {
        const { ref, bytes, storedAt } = artifact;
        const object = `${name}/${inPrefix(path)}`;
        if (artifact.owner === owner) yield { object, ref, bytes, storedAt };
      }
    },
    get: (object) => getObject(keyOf(object)),
    remove: async (object) => {
      const answer = await send('DELETE', keyOf(object));
      if (![200, 204, 404].includes(answer.status)) throw refused('write', place, answer);
    },
    tryWrite: () => putObject(inPrefix(probe), undefined, Buffer.from('planwave')),
    tryRead: async () => void (await getObject(inPrefix(probe))),
  };
}

/** @throws TypeError when the address is none; the settings were checked before. */
function readAddress({ url, region }: BucketSettings) {
  const { host, pathname, searchParams } = new URL(url);
  const where = searchParams.get('region') ?? region ?? 'us-east-1';
  return {
    name: host,
    // Empty parts would make keys that some services do not take.
    prefix: pathname.split('/').filter(Boolean).join('/'),
    region: where,
    endpoint: (searchParams.get('endpoint') ?? `https://s3.${where}.amazonaws.com`).replace(
      /\/$/,
      '',
    ),
  };
}

interface Answer {
  readonly status: number;
  readonly bytes: Buffer;
}

interface Sent {
  readonly method: string;
  readonly ref: Ref | undefined;
  readonly body: Uint8Array | undefined;
}

async function openClient(settings: BucketSettings, region: string): Promise<AwsClient> {
  const { AwsClient: S3 } = await import('aws4fetch');
  const { accessKeyId, secretAccessKey, sessionToken } = settings;
  return new S3({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service: 's3',
    region,
    retries: 0,
  });
}

async function sendOnce(s3: AwsClient, url: string, { method, ref, body }: Sent): Promise<Answer> {
  const megabytes = (body?.byteLength ?? 0) / 1_000_000;
  // The answer of a GET may be as large as any artifact.
  const size = method === 'GET' ? 100 : megabytes;
  const waitMs = Math.ceil(requestMs.base + requestMs.megabyte * size);
  const response = await s3.fetch(url, {
    method,
    signal: AbortSignal.timeout(waitMs),
    ...(body !== undefined && { body: Buffer.from(body) }),
    // The address of an artifact is what S3 wants signed.
    ...(ref !== undefined && { headers: { 'x-amz-content-sha256': ref } }),
  });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Status of a service that has no space left: a repetition does not help. */
const noSpace = 507;

function isOverload(status: number): boolean {
  return (status >= 500 && status !== noSpace) || status === 429 || status === 409;
}

function codeOf({ bytes }: Answer): string {
  return /<Code>(\w{1,100})<\/Code>/.exec(bytes.toString('utf8'))?.[1] ?? '';
}

type Doing = 'read' | 'write' | 'list';

function refused(doing: Doing, place: string, answer: Answer): StoreUnavailable {
  const code = codeOf(answer);
  const [reason, cure] = explainRefusal(code, answer.status);
  return unavailable(doing, place, code === '' ? reason : `${reason} (${code})`, cure);
}

function explainRefusal(code: string, status: number): readonly [reason: string, cure: string] {
  if (code === 'NoSuchBucket') return ['there is no such bucket', `create it, or check ${setting}`];
  if (status === 403) return ['it refuses the keys', `check ${keys}, and what they may do there`];
  if (status === noSpace) return ['its disk is full', 'free some space there'];
  return [`it answers with status ${status}`, `look at the service, and check ${setting}`];
}

function unreachable(doing: Doing, place: string, error: unknown): StoreUnavailable {
  // What `fetch` throws says only that it failed.
  const cause = types.isNativeError(error) ? (error.cause ?? error) : error;
  const code = getCode(cause);
  const reason = types.isNativeError(cause) && code === null ? cause.message : 'no answer came';
  const named = code === null ? '' : ` (${code})`;
  const cure = `look whether the service is up, and check ${setting}`;
  return unavailable(doing, place, `${reason}${named}`, cure, error);
}

function unavailable(
  doing: Doing,
  place: string,
  ...[reason, cure, cause]: readonly [reason: string, cure: string, cause?: unknown]
): StoreUnavailable {
  const said = `Can't ${doing} the artifacts at ${place}: ${reason}. Try: ${cure}. The run waits and continues by itself.`;
  return new StoreUnavailable(said, { path: place, code: getCode(cause), cause });
}
