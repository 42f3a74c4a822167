import type { ConnectionLike } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/client';
import { searchAttributes } from '../../../contracts/names.ts';
import { PlanwaveClientError } from '../../client-error.ts';
import { grpcCodes } from '../../grpc-codes.ts';
import { callServer, grpcCodeOf } from '../../server-calls.ts';
import type { DoctorCheck, DoctorFinding } from '../doctor-check.ts';
import { formatSeconds } from '../text/format-time.ts';

interface Server {
  readonly connection: ConnectionLike;
  readonly address: string;
  readonly namespace: string;
}

/** What can be known from the server alone. */
export function createServerChecks(server: Server, taskQueue: string): readonly DoctorCheck[] {
  return [
    { name: 'Temporal server', run: () => checkServer(server) },
    { name: 'namespace', run: () => checkNamespace(server) },
    { name: 'search attributes', run: () => checkInNamespace(server, checkSearchAttributes) },
    { name: 'worker', run: () => checkInNamespace(server, () => checkWorker(server, taskQueue)) },
  ];
}

/** A missing namespace has a check and a cure of its own. */
async function checkInNamespace(
  server: Server,
  check: (server: Server) => Promise<DoctorFinding>,
): Promise<DoctorFinding> {
  try {
    return await check(server);
  } catch (error) {
    const isMissing = error instanceof PlanwaveClientError && error.code === 'not_found';
    if (!isMissing) throw error;
    return { ok: false, detail: 'not checked without the namespace' };
  }
}

async function checkServer(server: Server): Promise<DoctorFinding> {
  const info = await callServer(server, null, () =>
    server.connection.workflowService.getSystemInfo({}),
  );
  return { ok: true, detail: `version ${info.serverVersion} at ${server.address}` };
}

async function checkNamespace(server: Server): Promise<DoctorFinding> {
  const { connection, namespace } = server;
  try {
    await connection.withDeadline(Date.now() + 3_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return { ok: true, detail: `${namespace} exists` };
  } catch (error) {
    const isMissing =
      error instanceof NamespaceNotFoundError || grpcCodeOf(error) === grpcCodes.notFound;
    if (!isMissing) throw error;
    return {
      ok: false,
      detail: `${namespace} does not exist at ${server.address}`,
      cure: `temporal operator namespace create --namespace ${namespace} --address ${server.address}`,
    };
  }
}

/** Names of Temporal's `IndexedValueType`, by number. */
const indexedValueTypes = [
  'Unspecified',
  'Text',
  'Keyword',
  'Int',
  'Double',
  'Bool',
  'Datetime',
  'KeywordList',
] as const;

async function checkSearchAttributes(server: Server): Promise<DoctorFinding> {
  const { namespace } = server;
  const { customAttributes } = await callServer(server, null, () =>
    server.connection.operatorService.listSearchAttributes({ namespace }),
  );
  const wanted = Object.entries(searchAttributes);
  const found = (name: string): string | undefined =>
    indexedValueTypes[customAttributes[name] ?? 0];
  const wrong = wanted.filter(([name, type]) => name in customAttributes && found(name) !== type);
  const missing = wanted.filter(([name]) => !(name in customAttributes));
  if (wrong.length > 0) {
    const list = wrong.map(([name, type]) => `${name} is ${found(name) ?? '?'}, not ${type}`);
    return {
      ok: false,
      detail: list.join('; '),
      cure: 'remove them with "temporal operator search-attribute remove --name <name>" and run doctor again',
    };
  }
  if (missing.length === 0) {
    return { ok: true, detail: `${wanted.map(([name]) => name).join(', ')} are registered` };
  }
  const options = missing.map(([name, type]) => `--name ${name} --type ${type}`).join(' ');
  return {
    ok: false,
    detail: `${missing.map(([name]) => name).join(', ')} ${missing.length === 1 ? 'is' : 'are'} not registered`,
    cure: `temporal operator search-attribute create ${options} --namespace ${namespace} --address ${server.address}`,
  };
}

/** A poll lasts a minute at most, so a worker that was seen longer ago is gone. */
const pollSecondsMax = 90;

async function checkWorker(server: Server, taskQueue: string): Promise<DoctorFinding> {
  const { pollers } = await callServer(server, null, () =>
    server.connection.workflowService.describeTaskQueue({
      namespace: server.namespace,
      taskQueue: { name: taskQueue },
    }),
  );
  const ages = (pollers ?? []).map(({ lastAccessTime }) => {
    return Date.now() / 1_000 - Number(lastAccessTime?.seconds ?? 0);
  });
  const live = ages.filter((age) => age < pollSecondsMax).length;
  if (live > 0) {
    return {
      ok: true,
      detail: `${live} ${live === 1 ? 'worker polls' : 'workers poll'} the task queue ${taskQueue}`,
    };
  }
  const last =
    ages.length === 0 ? '' : ` (the last one was seen ${formatSeconds(Math.min(...ages))} ago)`;
  return {
    ok: false,
    detail: `no worker polls the task queue ${taskQueue} at ${server.address}${last}`,
    cure: 'npm run worker, or npm run dev',
  };
}
