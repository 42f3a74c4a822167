/**
 * Records the histories that `replay.test.ts` replays, from real runs on a real dev server; the rehearsal model answers.
 *
 *   npx tsx test/replay/record-histories.ts            all of them
 *   npx tsx test/replay/record-histories.ts stopped    the scenarios that are named
 *
 * A history stays as it was recorded for as long as runs of its version may be alive: newer workflow code has to replay
 * it. So record again only under a new version, or what has never shipped.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchHistories, historyJson } from '../support/histories.ts';
import { startOwnServer } from '../support/own-server.ts';
import { startShared } from '../support/shared-server.ts';
import { openStage } from '../support/stage.ts';
import { scenarios } from './scenarios.ts';
import type { Scenario } from './scenario.ts';
import { scrubHistory } from './scrub-history.ts';

const folder = fileURLToPath(new URL('histories', import.meta.url));

/** A server on which a short history is a long one. */
const shortHistories = ['--dynamic-config-value=limit.historyCount.suggestContinueAsNew=40'];

/** A command that takes every message. */
const listener = { kind: 'command', argv: [process.execPath, '-e', ''], env: {} } as const;

/** The rehearsal plays it. */
const priced = { isRehearsal: false, defaultModel: 'claude-sonnet-5-5' };

const wanted = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const stopShared = await startShared();
const shortServer = await startOwnServer(shortHistories);
try {
  for (const scenario of scenarios) {
    if (wanted.length === 0 || wanted.includes(scenario.name)) await record(scenario);
  }
} finally {
  await shortServer.stop();
  await stopShared();
}

async function record(scenario: Scenario): Promise<void> {
  const { name, isContinued = false, isTold = false, isPriced = false } = scenario;
  const { failsOnce, keep, play } = scenario;
  const stage = await openStage({
    ...(isContinued && { address: shortServer.address }),
    failsOnce,
    settings: { ...(isTold && { notify: listener }), ...(isPriced && priced) },
  });
  try {
    await play(stage, name);
    const histories = await fetchHistories(stage.client, name);
    for (const [path, files] of Object.entries(keep)) {
      // The newest execution comes first.
      const place = `${name}${path}`;
      const executions = histories.filter(({ workflowId }) =>
        place.endsWith('*') ? workflowId.startsWith(place.slice(0, -1)) : workflowId === place,
      );
      const { first, last } = files;
      if (first !== undefined && executions.length < 2)
        throw new Error(`${name}${path} was not continued.`);
      if (last !== undefined) write(last, executions[0]);
      if (first !== undefined) write(first, executions.at(-1));
    }
  } finally {
    await stage.close();
  }
}

function write(
  name: string,
  stored: Awaited<ReturnType<typeof fetchHistories>>[number] | undefined,
): void {
  if (stored === undefined) throw new Error(`There is no history for ${name}.`);
  const [type, ...rest] = name.split('-');
  const file = `${type}.${readVersion()}-${rest.join('-')}.json`;
  const text = JSON.stringify(scrubHistory(historyJson(stored.history)), null, 1);
  writeFileSync(join(folder, file), `${text}\n`);
  console.log(`${file}: ${stored.history.events?.length ?? 0} events, ${text.length} bytes`);
}

function readVersion(): string {
  const path = fileURLToPath(new URL('../../package.json', import.meta.url));
  const { version }: { version: string } = JSON.parse(readFileSync(path, 'utf8'));
  return version;
}
