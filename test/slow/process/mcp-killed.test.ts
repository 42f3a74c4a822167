import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptRule } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { oddServerFile } from '../../support/mcp/odd-servers.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { completed, work } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const { stage } = useProcessStages();

/** Tools whose first call never ends: each is the name of its run. */
const tools = ['once-read', 'once-repeat', 'once-act'] as const;

const logFile = (): string => join(stage.home, 'odd.log');

/** Lists what the servers noted, over all workers. */
function notes(): string[] {
  return existsSync(logFile()) ? readFileSync(logFile(), 'utf8').split('\n') : [];
}

const callsOf = (tool: string): number => notes().filter((line) => line === `call ${tool}`).length;

function writeServers(): string {
  const file = join(stage.home, 'servers.json');
  const args = [oddServerFile, '--log', logFile()];
  const odd = { command: process.execPath, args, planwave: { trusted: true, brings: [] } };
  writeFileSync(file, JSON.stringify({ mcpServers: { odd } }));
  return file;
}

function writeAgent(): string {
  const folder = join(stage.home, 'agents-of-mcp');
  mkdirSync(folder, { recursive: true });
  const text = '---\nname: caller\ndescription: Calls.\ntools: mcp__odd__*\n---\n\nYou call.\n';
  writeFileSync(join(folder, 'caller.md'), text);
  return folder;
}

function rulesOf(tool: string): ScriptRule[] {
  const match = { callKeyIncludes: `${tool}/c/`, schema: 'delegation' } as const;
  const tool_use = [{ name: `mcp__odd__${tool}`, input: {} }];
  return [
    { match: { ...match, nth: 1 }, reply: { tool_use } },
    { match, reply: { json: completed('c1') } },
  ];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it('kill -9 during calls of an MCP server: what may be repeated is, and the rest is asked', async () => {
  const env = { PLANWAVE_MCP: writeServers() };
  stage.rehearsal.script(tools.flatMap(rulesOf));
  const input = {
    goal: 'Call it',
    agents_dir: writeAgent(),
    delegations: [work('c', { agent_id: 'caller', criteria: ['c1'] })],
  };
  const worker = await startWorkerProcess(stage, env);
  const runs = await Promise.all(tools.map((tool) => stage.start('plannerWave', input, tool)));
  await eventually('three calls', async () => tools.every((tool) => callsOf(tool) === 1));
  const servers = notes().flatMap((line) => {
    const [word, pid] = line.split(' ');
    return word === 'start' ? [Number(pid)] : [];
  });
  worker.signal('SIGKILL');
  expect(await worker.ended).toBe('SIGKILL');
  // The fault fired: no call had ended. A server ends with its input.
  for (const pid of servers) await eventually(`the end of ${pid}`, async () => !isAlive(pid));

  await startWorkerProcess(stage, env);
  const [read, repeat, act] = runs;
  if (read === undefined || repeat === undefined || act === undefined) throw new Error();
  await read.result();
  await repeat.result();
  const question = await openQuestion(stage, act);
  expect(question).toMatchObject({ kind: 'effect', default_answer: null });
  await submit(act, { question_id: question.question_id, answer: 'skip' });
  await act.result();
  expect(tools.map(callsOf)).toEqual([2, 2, 1]);
  const { effects: repeated = [] } = await storedRecord(stage.home, 'once-repeat');
  expect(repeated).toMatchObject([{ state: 'confirmed' }]);
  const { effects: skipped = [] } = await storedRecord(stage.home, 'once-act');
  expect(skipped).toMatchObject([{ state: 'skipped' }]);
  for (const tool of tools) await expectPromisesKept(stage, tool, { refusedTasks: true });
});
