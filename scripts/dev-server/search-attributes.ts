import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { searchAttributes } from '../../contracts/names.ts';
import { badSettingsExitCode, ExpectedError, messageOf } from '../bootstrap/expected-error.mjs';
import { connectTo, namespaceOf } from './temporal-probe.ts';

/** Numbers of the wire format (temporal.api.enums.v1.IndexedValueType). */
const wireTypes = { Keyword: 2, Int: 3, Double: 4, Datetime: 6 } as const;

/** Milliseconds until a missing server is reported: no user should wait 10 s plus the start of the process. */
const connectTimeoutMs = 5_000;

type AttributeName = keyof typeof searchAttributes;

const attributeNames = Object.keys(searchAttributes).filter(
  (name): name is AttributeName => name in searchAttributes,
);

/** Returns arguments of `temporal server start-dev` that register planwave's search attributes. */
export function searchAttributeArguments(): string[] {
  return attributeNames.map((name) => `--search-attribute=${name}=${searchAttributes[name]}`);
}

/**
 * Registers missing search attributes of planwave's runs on a running server.
 *
 * @returns the names that were registered
 * @throws {ExpectedError} when the server refuses, or knows one of the names with another type
 */
export async function registerSearchAttributes(address: string): Promise<string[]> {
  const connection = await connectOrExplain(address);
  const namespace = namespaceOf();
  const list = async () =>
    (await connection.operatorService.listSearchAttributes({ namespace })).customAttributes;
  try {
    const known = await list();
    const clash = attributeNames.find((name) => {
      const type: number | undefined = known[name];
      return type !== undefined && type !== wireTypes[searchAttributes[name]];
    });
    if (clash !== undefined) throw new ExpectedError(clashMessage(address, namespace, clash));
    const missing = attributeNames.filter((name) => known[name] === undefined);
    if (missing.length === 0) return [];
    const types = missing.map((name) => [name, wireTypes[searchAttributes[name]]] as const);
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(types),
    });
    // The server answers before each of its parts knows the names, and refuses a run with an unknown one.
    for (let look = 0; look < 50; look += 1) {
      const now = await list();
      if (missing.every((name) => now[name] !== undefined)) break;
      await sleep(200);
    }
    return missing;
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    throw new ExpectedError(refusalMessage(address, namespace, error));
  } finally {
    await connection.close();
  }
}

async function connectOrExplain(address: string): Promise<Connection> {
  try {
    return await connectTo(address, connectTimeoutMs);
  } catch (error) {
    const reason = messageOf(error);
    if (error instanceof TypeError) {
      const text = `The Temporal address "${address}" can't be used: ${reason}.\nTry: TEMPORAL_ADDRESS=host:7233`;
      throw new ExpectedError(text, badSettingsExitCode);
    }
    throw new ExpectedError(
      `No Temporal server answers at ${address}: ${reason}.\n` +
        'What to do: npm run temporal starts one here, npm run dev everything; TEMPORAL_ADDRESS=host:7233 names another.',
    );
  }
}

function clashMessage(address: string, namespace: string, name: AttributeName): string {
  return (
    `The Temporal server at ${address} knows the search attribute ${name} with another type than planwave's ` +
    `${searchAttributes[name]} (namespace ${namespace}).\nTry another namespace (TEMPORAL_NAMESPACE) or another server.`
  );
}

function refusalMessage(address: string, namespace: string, error: unknown): string {
  const reason = messageOf(error);
  const commands = attributeNames.map(
    (name) =>
      `  temporal operator search-attribute create --address ${address} --namespace ${namespace} ` +
      `--name ${name} --type ${searchAttributes[name]}`,
  );
  return [
    `The Temporal server at ${address} did not register planwave's search attributes: ${reason}`,
    'An operator of the server has to run, for each one that is missing:',
    ...commands,
  ].join('\n');
}
