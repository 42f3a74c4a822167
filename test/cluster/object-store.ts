import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort, isListening } from '../../scripts/dev-server/temporal-probe.ts';
import { startPart } from '../../scripts/parts/part.ts';
import type { Part } from '../../scripts/parts/part.ts';
import { eventually } from '../support/eventually.ts';

/** S3 server with one bucket, whose objects are files. */
export interface ObjectStore {
  readonly port: number;
  /** The setting that names the bucket, with a prefix. */
  readonly url: string;
  /** Keys, as the environment names them. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the bucket. */
  readonly bucket: string;
  readonly pid: () => number;
  kill(): Promise<unknown>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const keyId = 'planwave-test';
const secret = 'planwave-test-secret';

/** @param programs Folder of versitygw. */
export async function startObjectStore(programs: string, folder: string): Promise<ObjectStore> {
  const data = join(folder, 'objects');
  const bucket = join(data, 'artifacts');
  mkdirSync(bucket, { recursive: true });
  const port = await findFreePort();
  let part: Part;
  const start = async (): Promise<void> => {
    part = startPart({
      command: join(programs, 'versitygw'),
      args: ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', data],
      env: { ...process.env, ROOT_ACCESS_KEY: keyId, ROOT_SECRET_KEY: secret },
      logFile: join(folder, 'objects.log'),
      kind: 'foreign',
    });
    const isUp = async (): Promise<true | null> => (await isListening('127.0.0.1', port)) || null;
    await eventually('an S3 server', isUp);
  };
  await start();
  return {
    port,
    url: `s3://artifacts/planwave?endpoint=http://127.0.0.1:${port}`,
    env: { AWS_ACCESS_KEY_ID: keyId, AWS_SECRET_ACCESS_KEY: secret },
    bucket,
    pid: () => part.pid,
    kill() {
      part.kill();
      return part.ended;
    },
    restart: start,
    stop: () => part.stop(5_000),
  };
}
