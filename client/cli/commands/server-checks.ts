import { NamespaceNotFoundError } from '@temporalio/client';
import { searchAttributes, signalNames } from '../../../contracts/names.ts';
import { describeMissingKeys } from '../../../encryption/encrypting-codec.ts';
import type { KeyRing } from '../../../encryption/key-ring.ts';
import {
  callServer,
  grpcCodeOf,
  grpcCodes,
  keyExpiryOf,
  toClientError,
} from '../../server-calls.ts';
import type { CliSession } from '../cli-session.ts';
import type { DoctorCheck, DoctorFinding } from '../cli-deps.ts';
import type { StoreIdentity } from '../../../contracts/store.ts';
import { describeStoreWait } from '../../store-waits.ts';
import { checkModelQueues, checkPinned, checkStores, checkWorkers } from './worker-checks.ts';
import { describeStuck } from '../../stuck-workflows.ts';
import { messageOf } from '../../../core/text/message-of.ts';

/**
 * Creates the checks that need the server alone.
 *
 * @param findStore Identifies the store of this shell; null when no worker has opened it.
 */
export function createServerChecks(
  session: CliSession,
  taskQueue: string,
  findStore: () => Promise<StoreIdentity | null>,
  keys: KeyRing,
): readonly DoctorCheck[] {
  const inNamespace: readonly DoctorCheck[] = [
    { name: 'access', run: () => checkAccess(session) },
    { name: 'search attributes', run: () => checkSearchAttributes(session) },
    { name: 'worker', run: () => checkWorkers(session, taskQueue) },
    { name: 'model queues', run: () => checkModelQueues(session) },
    { name: 'stores', run: async () => checkStores(session, taskQueue, await findStore()) },
    { name: 'waiting for a store', run: () => checkStoreWaits(session) },
    { name: 'pinned runs', run: () => checkPinned(session, taskQueue) },
    { name: 'stuck runs', run: () => checkStuck(session) },
    { name: 'keys', run: () => checkKeys(session, taskQueue, keys) },
    { name: 'long histories', run: () => checkHistories(session) },
    { name: 'sent notifications', run: () => checkNotifications(session) },
  ];
  const namespaceChecked = once(() => checkNamespace(session));
  return [
    { name: 'Temporal server', run: () => checkServer(session) },
    { name: 'namespace', run: namespaceChecked },
    ...inNamespace.map((check) => ({
      name: check.name,
      // A namespace that is missing, or closed to this client, has a check and a cure of its own.
      run: async (): Promise<DoctorFinding> =>
        (await namespaceChecked()).ok
          ? check.run()
          : { ok: false, detail: 'not checked without the namespace' },
    })),
  ];
}

/** Makes a finding of a failure: a message that ends with a cure is taken apart. */
export function toFinding(error: unknown): DoctorFinding {
  const [detail = '', cure] = messageOf(error).split('. Try: ');
  return { ok: false, detail, ...(cure !== undefined && { cure: cure.replace(/\.$/, '') }) };
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
}

async function checkServer(server: CliSession): Promise<DoctorFinding> {
  const info = await callServer(server, null, () =>
    server.connection.workflowService.getSystemInfo({}),
  );
  return { ok: true, detail: `version ${info.serverVersion} at ${server.address}` };
}

async function checkNamespace(server: CliSession): Promise<DoctorFinding> {
  const { connection, namespace, address } = server;
  try {
    await connection.withDeadline(Date.now() + 3_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return { ok: true, detail: `${namespace} exists` };
  } catch (error) {
    const isMissing =
      error instanceof NamespaceNotFoundError || grpcCodeOf(error) === grpcCodes.notFound;
    if (!isMissing) return toFinding(toClientError(server, null, error));
    return {
      ok: false,
      detail: `${namespace} does not exist at ${address}`,
      cure: `temporal operator namespace create --namespace ${namespace} --address ${address}`,
    };
  }
}

/** An id that no workflow has. */
const noWorkflow = { workflowId: 'planwave-doctor', runId: '00000000-0000-4000-8000-000000000000' };

/**
 * Checks that this client may start runs and send messages: it sends one to a workflow that does not exist, which the server
 * looks for only after it has checked the rights.
 */
async function checkAccess(server: CliSession): Promise<DoctorFinding> {
  const { connection, namespace } = server;
  const send = (): Promise<unknown> =>
    connection.workflowService.signalWorkflowExecution({
      namespace,
      workflowExecution: noWorkflow,
      signalName: signalNames.answer,
    });
  try {
    await connection.withDeadline(Date.now() + 3_000, send);
  } catch (error) {
    if (grpcCodeOf(error) !== grpcCodes.notFound) throw toClientError(server, null, error);
  }
  const expiry = keyExpiryOf(connection);
  const until = expiry === null ? '' : `; the API key expires on ${expiry}`;
  return { ok: true, detail: `runs may be read and changed in ${namespace}${until}` };
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

async function checkSearchAttributes(server: CliSession): Promise<DoctorFinding> {
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

/** Looks for runs that no worker can carry on. */
async function checkStuck({ client }: CliSession): Promise<DoctorFinding> {
  const stuck = await client.stuck();
  const [first] = stuck;
  if (first === undefined) return { ok: true, detail: 'none: the workers can carry on every run' };
  const runs = [...new Set(stuck.map(({ run_id }) => run_id))];
  const [what = '', cure] = describeStuck(first).split('. Try: ');
  return { ok: false, detail: `${runs.join(', ')}. ${what}`, cure };
}

/** Looks for open runs that can't be decrypted here. A worker may have other keys than this shell. */
async function checkKeys(
  { connection, namespace }: CliSession,
  taskQueue: string,
  keys: KeyRing,
): Promise<DoctorFinding> {
  const missing = await describeMissingKeys(connection, { namespace, taskQueue, keys });
  if (missing !== null) {
    const [detail = '', cure] = missing.split('. Try: ');
    return { ok: false, detail, cure };
  }
  const [first, ...others] = keys.ids;
  if (first === undefined) return { ok: true, detail: 'none: nothing is encrypted' };
  const old = others.length === 0 ? '' : `, ${others.join(', ')} only decrypt`;
  return { ok: true, detail: `${first} encrypts${old}; every open run can be read` };
}

/** Looks for runs whose store no worker has, or can reach. */
async function checkStoreWaits({ client }: CliSession): Promise<DoctorFinding> {
  const waits = await client.storeWaits();
  const [first] = waits;
  if (first === undefined) return { ok: true, detail: 'no run' };
  const runs = [...new Set(waits.map(({ run_id }) => run_id))];
  const [what = '', cure] = describeStoreWait(first).split('. Try: ');
  return { ok: false, detail: `${runs.join(', ')}. ${what}`, cure };
}

/** Looks for runs that the server may soon end because of what was sent to them. */
async function checkHistories({ client }: CliSession): Promise<DoctorFinding> {
  const [first, ...others] = await client.longHistories();
  if (first === undefined) return { ok: true, detail: 'none: every run is far from the limits' };
  const ids = [first, ...others].map(({ workflow_id }) => workflow_id).join(', ');
  const [what = '', cure] = first.notice.split(' Try: ');
  return { ok: false, detail: `${ids}. ${what}`, cure };
}

/** Looks for messages to people that were not taken. */
async function checkNotifications({ client }: CliSession): Promise<DoctorFinding> {
  const late = await client.lateNotifications();
  const [first] = late;
  if (first === undefined) return { ok: true, detail: 'none is late' };
  const runs = [...new Set(late.map(({ run_id }) => run_id))].join(', ');
  const state = first.is_repeated ? 'tried again and again' : 'given up within a day';
  const reason = first.reason === '' ? '' : ` (${first.reason})`;
  const cure = 'doctor --notify where the worker has its settings; then correct what it names';
  return { ok: false, detail: `about ${runs}: ${state}${reason}`, cure };
}
