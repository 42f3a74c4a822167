import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createFileEffectLedger } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import type { EffectLedger } from '../../../activities/ports/effect-ledger.ts';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import { createChangeFiles } from '../../../activities/tools/registry/change-files.ts';
import type { RunToolResult } from '../../../contracts/activity-types.ts';
import { notFound, oldAttempt } from '../../support/old-attempt.ts';
import { registryOf } from '../../support/registry-of.ts';
import { createSuspension } from '../../support/suspension.ts';
import { agents, createBench, runIn } from './bench.ts';

// An attempt to write a file whose worker is suspended goes on when others have been made of it, or the file has been
// written anew since.

const folders: string[] = [];
afterEach(() => {
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const args = { path: 'out/a.md', content: 'Hello' };

/** A home with a ledger on the disk, and calls of `write_file` with the same arguments but for the content. */
async function createHome() {
  const home = mkdtempSync(join(tmpdir(), 'planwave-late-'));
  folders.push(home);
  const ledger = createFileEffectLedger({ home });
  const file = join(home, 'my-run', 'workspace', 'out', 'a.md');
  const write = async (
    env: MockActivityEnvironment,
    { content = args.content, effect_id = 'task/effect-1', effects = ledger } = {},
  ): Promise<RunToolResult> => {
    const tools = createToolRegistry(createChangeFiles(fileWorkspaces(home)));
    const bench = await createBench({ deps: { tools, effects } });
    const granted = agents.map((agent) => ({ ...agent, allowed_tools: ['write_file'] }));
    return runIn(env, bench.activities.runTool, {
      run_id: 'my-run',
      agent_id: 'writer',
      registry_ref: await bench.store.put(registryOf(granted)),
      record_ref: bench.record_ref,
      builds_on: [],
      call: {
        tool_use_id: 't1',
        name: 'write_file',
        input_ref: await bench.store.put(JSON.stringify({ ...args, content })),
      },
      effect: { effect_id, chain_id: 'chain', approval: null, resolution: null },
    });
  };
  return { ledger, file, write };
}

function attempt(n = 1): MockActivityEnvironment {
  return new MockActivityEnvironment({ attempt: n });
}

const confirmed = { type: 'done', effect: { state: 'confirmed' } };

it('fault 5, part of fault 48: a write that is held up until another attempt has made it, and the file is a newer one, does not come late', async () => {
  const { file, write } = await createHome();
  const server = createSuspension();
  let asked = 0;
  // The attempt is asked for twice: before it begins to write, and when all is written but for the name.
  const env = oldAttempt(async () => {
    asked += 1;
    if (asked === 1) return;
    await server.here();
    throw notFound();
  });
  const late = write(env);
  await server.reached;
  expect(await write(attempt(2))).toMatchObject(confirmed);
  const newer = { content: 'Newer', effect_id: 'task/effect-2' };
  expect(await write(attempt(), newer)).toMatchObject(confirmed);

  server.goOn();

  await expect(late).rejects.toThrow('somebody else may have the work');
  expect(readFileSync(file, 'utf8')).toBe('Newer');
  expect(await readdir(dirname(file))).toEqual(['a.md']);
});

it('fault 5, part of fault 48: an attempt that is held up before it says that it begins does not undo what the ledger says since', async () => {
  const { ledger, file, write } = await createHome();
  const { reached, here, goOn } = createSuspension();
  const keys: string[] = [];
  const effects: EffectLedger = {
    ...ledger,
    put: async (key, ...entry) => {
      keys.push(key);
      await here();
      return ledger.put(key, ...entry);
    },
  };
  // The server does not answer, so that the attempt can't know that it has lost the work.
  const env = oldAttempt(() => Promise.reject(new Error('unreachable')));
  const late = write(env, { effects });
  await reached;
  const second = await write(attempt(2));
  expect(second).toMatchObject(confirmed);
  const [key = ''] = keys;
  const entry = await ledger.find(key);
  writeFileSync(file, 'by the user');

  goOn();

  expect(await late).toMatchObject(confirmed);
  expect(await ledger.find(key)).toEqual(entry);
  expect(readFileSync(file, 'utf8')).toBe('by the user');
});
