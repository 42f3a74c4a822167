import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPlanwave } from '../../../library/create-planwave.ts';
import { createWorker } from '../../../library/worker.ts';
import { createAuthority } from '../../support/certificates.ts';
import type { Certified } from '../../support/certificates.ts';
import { runAt } from '../../support/run-at.ts';
import { sharedServer } from '../../support/shared-server.ts';
import { startTlsFront } from '../../support/tls-front.ts';
import type { TlsFront } from '../../support/tls-front.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { runScript, stageEnvironment, startWorkerProcess } from '../../support/worker-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'planwave-tls-'));
const fronts: TlsFront[] = [];
afterAll(async () => {
  await Promise.all(fronts.map((one) => one.close()));
  rmSync(folder, { recursive: true });
});

const company = createAuthority('company');
const stranger = createAuthority('stranger');
const local = ['localhost', '127.0.0.1'];

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const caFile = fileOf('ca.pem', company.cert);
const withCa = { TEMPORAL_TLS_SERVER_CA_CERT_PATH: caFile };

/** Settings that show a client certificate. */
function showing(name: string, { cert, key }: Certified): Record<string, string> {
  return {
    ...withCa,
    TEMPORAL_TLS_CLIENT_CERT_PATH: fileOf(`${name}.pem`, cert),
    TEMPORAL_TLS_CLIENT_KEY_PATH: fileOf(`${name}.key`, key),
  };
}

const mtls = showing('worker', company.issue(['worker']));

async function front(server: Certified, clientCa?: string): Promise<string> {
  const opened = await startTlsFront(sharedServer().address, server, clientCa);
  fronts.push(opened);
  return opened.address;
}

/** First lines of `doctor`: the finding about the server, with its cure. */
async function diagnose(address: string, env: Record<string, string>): Promise<string> {
  const deps = { env: { TEMPORAL_ADDRESS: address, ...env } };
  const { out } = await runAt(address, ['doctor'], { deps });
  return out.split('\n').slice(0, 2).join('\n');
}

const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const token = (claims: object): string => `${encode({ alg: 'RS256' })}.${encode(claims)}.c2ln`;

/** Answers every call alike, as a gateway in front of Temporal does. */
async function refusing(
  status: 7 | 16,
  text: string,
): Promise<{ address: string; close: () => void }> {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond(
      {
        ':status': 200,
        'content-type': 'application/grpc',
        'grpc-status': status,
        'grpc-message': text,
      },
      { endStream: true },
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the listener has no port');
  return { address: `127.0.0.1:${bound.port}`, close: () => void server.close() };
}

describe('doctor explains', () => {
  const server = company.issue(local);
  const cases: readonly (readonly [
    string,
    () => Promise<string>,
    Readonly<Record<string, string>>,
    RegExp,
  ])[] = [
    ['no failure', () => front(server, company.cert), mtls, /^✓ Temporal server: version /],
    [
      'a CA that is not known here',
      () => front(server),
      { TEMPORAL_TLS: 'true' },
      /not signed by a CA that this machine trusts, but by CN=company\n +cure: TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
    ],
    [
      'the wrong CA',
      () => front(stranger.issue(local)),
      withCa,
      /not signed by a CA of TEMPORAL_TLS_SERVER_CA_CERT_PATH, but by CN=stranger/,
    ],
    [
      'an expired certificate of the server',
      () => front(company.issue(local, [-9, -2])),
      withCa,
      /certificate, or that of its CA, has expired .*\n +cure: renew it on the server/,
    ],
    [
      'another host name',
      () => front(company.issue(['temporal.test'])),
      withCa,
      /is for temporal\.test, not for 127\.0\.0\.1\n +cure: .*TEMPORAL_TLS_SERVER_NAME=temporal\.test/,
    ],
    [
      'a missing client certificate',
      () => front(server, company.cert),
      withCa,
      /requires a client certificate \(mTLS\), and none is set.*\n +cure: set TEMPORAL_TLS_CLIENT_CERT_PATH/,
    ],
    [
      "another CA's client certificate",
      () => front(server, company.cert),
      showing('other', stranger.issue(['worker'])),
      /does not accept the client certificate of worker, issued by CN=stranger/,
    ],
    [
      'an expired client certificate',
      () => front(server, company.cert),
      showing('old', company.issue(['worker'], [-9, -2])),
      /client certificate has expired on /,
    ],
    [
      'a certificate with the key of another',
      () => front(server),
      showing('pair', { ...company.issue(['worker']), key: company.issue(['worker']).key }),
      /client certificate and its key do not belong together/,
    ],
    [
      'a certificate that is none',
      () => front(server),
      showing('none', { cert: 'none', key: 'none' }),
      /client certificate or its key can't be read/,
    ],
    [
      'no TLS on this side',
      () => front(server),
      {},
      /speaks TLS, and this client does not\n +cure: TEMPORAL_TLS=true/,
    ],
    [
      'no TLS on the other side',
      async () => sharedServer().address,
      withCa,
      /speaks no TLS, and this client does\n +cure: .*unset TEMPORAL_TLS/,
    ],
    [
      'a key for a server without TLS',
      async () => sharedServer().address,
      { TEMPORAL_API_KEY: 'a-key' },
      /speaks no TLS.*\n +cure: .*TEMPORAL_TLS=false/,
    ],
    [
      'a name for the certificate',
      () => front(company.issue(['temporal.test'])),
      { ...withCa, TEMPORAL_TLS_SERVER_NAME: 'temporal.test' },
      /^✓ Temporal server: version /,
    ],
  ];
  const findings = new Map<string, string>();
  beforeAll(async () => {
    // Some at once, because each attempt waits seconds for an answer. All at once, they might keep one another from it in time.
    const waiting = cases.values();
    const diagnoseNext = async (): Promise<void> => {
      for (const [name, open, env] of waiting)
        findings.set(name, await diagnose(await open(), env));
    };
    await Promise.all(Array.from({ length: 4 }, diagnoseNext));
  });

  it.each(cases)('%s', (name, _open, _env, said) => {
    expect(findings.get(name)).toMatch(said);
  });
});

describe('doctor explains the refusal of', () => {
  const expired = token({ exp: 1_600_000_000 });
  it.each([
    [
      'a missing key',
      16,
      'Jwt is missing',
      {},
      /asks for an API key, and none is set \(Jwt is missing\)\n +cure: TEMPORAL_API_KEY/,
    ],
    [
      'an expired key',
      16,
      'Request unauthorized.',
      { TEMPORAL_API_KEY: expired },
      /expired at 2020-09-13 12:26 UTC/,
    ],
    [
      'a key for another namespace',
      7,
      'Request unauthorized.',
      { TEMPORAL_API_KEY: token({ permissions: ['test:write'] }), TEMPORAL_NAMESPACE: 'prod' },
      /only test:write, so nothing in namespace prod/,
    ],
  ] as const)('%s', async (_case, status, text, env, said) => {
    const { address, close } = await refusing(status, text);
    const finding = await diagnose(address, { TEMPORAL_TLS: 'false', ...env });
    close();
    expect(finding).toMatch(
      /^✗ Temporal server: The Temporal server at .* refused the credentials/,
    );
    expect(finding).toMatch(said);
    expect(finding).not.toContain(expired);
  });
});

describe('over mTLS', () => {
  const { stage } = useProcessStages();

  it('a worker carries out a run that a client started', async () => {
    const opened = await startTlsFront(stage.address, company.issue(local), company.cert);
    fronts.push(opened);
    const env = { ...mtls, TEMPORAL_ADDRESS: opened.address };
    await startWorkerProcess(stage, env);
    const client = { ...env, PLANWAVE_TASK_QUEUE: stage.taskQueue, PLANWAVE_HOME: stage.home };
    const planwave = async (...argv: string[]): Promise<string> => {
      const command = runScript(argv, client);
      expect([await command.ended, command.output()]).toEqual(['exit code 0', expect.anything()]);
      return command.output();
    };
    await planwave(
      'start',
      'Compare three ways to store a backup',
      '--id',
      'over-mtls',
      '--defaults',
    );
    expect(await planwave('watch', 'over-mtls')).toContain('completed');
    expect([...opened.clients]).toEqual(['CN=worker']);
  });

  it('the library has the settings of the environment, as client and as worker', async () => {
    const opened = await startTlsFront(stage.address, company.issue(local), company.cert);
    fronts.push(opened);
    const env = { ...mtls, TEMPORAL_ADDRESS: opened.address };
    const before = { ...process.env };
    Object.assign(process.env, env);
    const planwave = createPlanwave({ taskQueue: 'nobody-polls', home: stage.home });
    process.env = before;
    const { run_id } = await planwave.start('Compare three ways to store a backup');
    expect(await planwave.client.describe(run_id)).toMatchObject({ execution: 'running' });
    await stage.client.workflow.getHandle(run_id).terminate();
    await planwave.close();
    expect([...opened.clients]).toEqual(['CN=worker']);

    expect(() => createWorker(Object({ tool: [] }))).toThrow(
      'createWorker: unknown field "tool". Did you mean "tools"?',
    );
    // A namespace that is missing is named only by a server that was reached.
    const worker = createWorker({ namespace: 'missing', home: stage.home, env });
    await expect(worker.run()).rejects.toThrow(
      new RegExp(`server at ${opened.address} did not register .*missing`),
    );
  });

  it('a worker without a certificate says what is missing, and ends', async () => {
    const opened = await startTlsFront(stage.address, company.issue(local), company.cert);
    fronts.push(opened);
    const worker = runScript(['worker'], {
      ...stageEnvironment(stage),
      ...withCa,
      TEMPORAL_ADDRESS: opened.address,
    });
    expect(await worker.ended).toMatch(/exit code [12]/);
    expect(worker.output()).toMatch(/requires a client certificate \(mTLS\), and none is set/);
  });
});
