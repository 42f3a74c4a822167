import { createSign, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { listen, type HttpServer } from '../../../client/listen.ts';
import { startRehearsalServer } from '../../../rehearsal/server/server.ts';
import type { RehearsalServer } from '../../../rehearsal/server/server.ts';
import { registerSearchAttributes } from '../../../scripts/dev-server/server-arguments.ts';
import { connectTo } from '../../../scripts/dev-server/temporal-probe.ts';
import { findPrograms } from '../../cluster/programs.ts';
import { startClusterServer } from '../../cluster/temporal-server.ts';
import type { ClusterServer } from '../../cluster/temporal-server.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import type { OwnPostgres } from '../../support/own-postgres.ts';
import { runAt } from '../../support/run-at.ts';
import { killProcesses, runScript } from '../../support/worker-process.ts';

/** A Temporal server that accepts calls only with a token, as docs/production.md sets it up. */

const { folder: programs, missing } = findPrograms('temporal');
if (programs === null) console.warn(`Tokens are not tested with a real server. ${missing}`);

const company = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Signs a token (RFC 7515) that is valid for an hour, counted from so many hours ago. */
function sign(
  permissions: readonly string[],
  hoursAgo = 0,
  key: KeyObject = company.privateKey,
): string {
  const exp = Math.floor(Date.now() / 1_000) + 3_600 * (1 - hoursAgo);
  const text = `${encode({ alg: 'RS256', kid: 'company', typ: 'JWT' })}.${encode({ sub: 'ada', permissions, exp })}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`;
}

const admin = sign(['temporal-system:admin', 'default:admin']);
const writer = sign(['default:write']);

(programs === null ? describe.skip : describe)('a Temporal server that requires a token', () => {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-authorized-'));
  let keys: HttpServer;
  let postgres: OwnPostgres;
  let server: ClusterServer;
  let rehearsal: RehearsalServer;

  beforeAll(async () => {
    keys = await listen({ port: 0 }, (_request, response) => {
      const key = { ...company.publicKey.export({ format: 'jwk' }), kid: 'company', use: 'sig' };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ keys: [{ ...key, alg: 'RS256' }] }));
    });
    rehearsal = await startRehearsalServer({ port: 0 });
    postgres = await startOwnPostgres(300);
    server = await startClusterServer(programs ?? '', postgres.url, folder, {
      keys: `http://127.0.0.1:${keys.port}/jwks.json`,
      token: admin,
    });
  });
  afterAll(async () => {
    await killProcesses();
    await server.stop();
    await postgres.stop();
    await rehearsal.close();
    await keys.close();
    rmSync(folder, { recursive: true });
  });

  /** Settings of a client or a worker with this token. */
  const holding = (apiKey: string) => ({
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_TLS: 'false',
    ...(apiKey !== '' && { TEMPORAL_API_KEY: apiKey }),
    PLANWAVE_HOME: join(folder, 'home'),
    ANTHROPIC_BASE_URL: rehearsal.url,
    ANTHROPIC_API_KEY: 'rehearsal',
  });

  it.each([
    ['no token', '', /asks for an API key, and none is set/],
    ['an expired token', sign(['default:write'], 2), /the API key expired at /],
    [
      'a token of a key that the server does not know',
      sign(['default:write'], 0, stranger.privateKey),
      /only write in namespace default, and either this needs admin, or the server does not know the key or the issuer that signed it/,
    ],
    [
      'a token for another namespace',
      sign(['test:write']),
      /has only test:write, so nothing in namespace default/,
    ],
    [
      'a token that may only read',
      sign(['default:read']),
      /has only read in namespace default, which is not enough/,
    ],
    [
      'a token for a worker alone',
      sign(['default:worker']),
      /has only worker in namespace default, which is not enough/,
    ],
    [
      'a token that may write',
      writer,
      /✓ access: runs may be read and changed in default; the API key expires on /,
    ],
  ])('doctor explains %s', async (_case, apiKey, said) => {
    const { out } = await runAt(server.address, ['doctor'], { deps: { env: holding(apiKey) } });
    expect(out).toMatch(said);
  });

  it('a worker that may write, and not register search attributes, says what an operator has to run', async () => {
    const worker = runScript(['worker'], holding(writer));
    expect(await worker.ended).toMatch(/exit code [12]/);
    expect(worker.output()).toContain('An operator of the server has to run');
    expect(worker.output()).toContain('temporal operator search-attribute create');
  });

  it('an administrator registers them once, and from then on the server takes them', async () => {
    expect(await registerSearchAttributes(server.address, holding(admin))).toContain(
      'PlanwaveCostUsd',
    );
    const connection = await connectTo(server.address, 10_000, holding(writer));
    const handle = await new Client({ connection }).workflow.start('none', {
      taskQueue: 'unserved',
      workflowId: 'at-once',
      typedSearchAttributes: [
        {
          key: defineSearchAttributeKey('PlanwaveCostUsd', SearchAttributeType.DOUBLE),
          value: 1,
        },
      ],
    });
    await handle.terminate();
    await connection.close();
    expect(await registerSearchAttributes(server.address, holding(writer))).toEqual([]);
  });

  it('after that, a client and a worker that may write carry out a run', async () => {
    const worker = runScript(['worker'], holding(writer));
    await worker.printed('The worker polls');
    const planwave = async (...argv: readonly string[]): Promise<string> => {
      const command = runScript(argv, holding(writer));
      expect([await command.ended, command.output()]).toEqual(['exit code 0', expect.anything()]);
      return command.output();
    };
    await planwave('start', 'Compare three ways to store a backup', '--id', 'mine', '--defaults');
    expect(await planwave('watch', 'mine')).toContain('completed');
  });
});
