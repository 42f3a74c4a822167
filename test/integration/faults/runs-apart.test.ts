import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { Reply, ReplyFunction } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { callsOfRun } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { blocked, completed, decision, plan, question, work } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { findTraces } from '../../support/traces.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** Each run's own word stands in its goal, agent, plan, outputs, question, answer and decision. */
const words = { first: 'Abracadabra', second: 'Zanzibar' } as const;
type Name = keyof typeof words;
const names = ['first', 'second'] as const;

const otherOf = { first: 'second', second: 'first' } as const;

const callsMax = 6;

/** Replies to the nth call of a run, from 1: plan, question, its review, work after the answer, more work, decision. */
function replyOf(word: string, nth: number): Reply {
  const agent_id = `${word.toLowerCase()}-agent`;
  const said = (ids: readonly string[]) => ({ ...completed(...ids), compact_md: `${word} ${nth}` });
  const replies: readonly unknown[] = [
    {
      ...plan([
        work('asker', { agent_id, task_description: `Find out about ${word}.` }),
        work('writer', { agent_id, depends_on: ['asker'], task_description: `Write on ${word}.` }),
      ]),
      summary: `All about ${word}.`,
    },
    blocked([question(`Which ${word}?`)], 'asker-done'),
    {
      reviews: [
        {
          question: 1,
          verdict: 'needs_user_input',
          answer: null,
          source_refs: [],
          reason: `The user chooses ${word}.`,
        },
      ],
    },
    said(['asker-done']),
    said(['writer-done']),
    { ...decision(), wave_compact: `Enough of ${word}.` },
  ];
  return { json: replies[nth - 1] };
}

function nameOf(callKey: string): Name {
  return callKey.startsWith('first') ? 'first' : 'second';
}

function arrived(name: Name): number {
  return callsOfRun(stage, name).length;
}

/** Turn by turn: no call is answered before the other run's call of the same turn is there. */
const inTurn: ReplyFunction = async ({ callKey, index }) => {
  const name = nameOf(callKey);
  const earlier = stage.rehearsal.calls().slice(0, index);
  const nth = earlier.filter((call) => nameOf(call.callKey) === name).length;
  await eventually(`call ${nth} of the other run`, async () => arrived(otherOf[name]) >= nth);
  return replyOf(words[name], nth);
};

/** A folder with one agent, whose prompt holds the word. */
function agentFolder(word: string): string {
  const folder = join(stage.home, `agents-of-${word.toLowerCase()}`);
  mkdirSync(folder);
  const name = `${word.toLowerCase()}-agent`;
  writeFileSync(
    join(folder, `${name}.md`),
    `---\nname: ${name}\ndescription: Knows ${word}.\n---\nYou know all about ${word}.\n`,
  );
  return folder;
}

/** Every file of the run's own folder as one text. */
function projectionOf(runId: string): string {
  const entries = readdirSync(join(stage.home, runId), {
    recursive: true,
    withFileTypes: true,
  });
  const files = entries.filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(5);
  return files.map((file) => readFileSync(join(file.parentPath, file.name), 'utf8')).join('\n');
}

it('fault 10: two runs that a worker does turn by turn know nothing of each other', async () => {
  stage.rehearsal.script([{ reply: inTurn }]);
  const runs: Record<Name, WorkflowHandle | null> = { first: null, second: null };
  for (const name of names) {
    const word = words[name];
    const input = { goal: `Explain ${word}`, agents_dir: agentFolder(word) };
    runs[name] = await stage.start('plannerRun', input, name);
  }
  const handles = Object.values(runs).filter((run) => run !== null);
  // Both questions are called q1, and the second is answered first.
  for (const run of handles) await openQuestion(stage, run);
  for (const run of handles.toReversed()) {
    const word = words[nameOf(run.workflowId)];
    await submit(run, { question_id: 'q1', answer: `The ${word} of ${run.workflowId}` });
  }

  // What one still writes is named by nothing yet, so both have to be over before the home is searched.
  const results = await Promise.all(handles.map((run) => stage.result(run)));
  for (const [at, run] of handles.entries()) {
    const name = nameOf(run.workflowId);
    const [own, others] = [words[name], words[otherOf[name]]];
    const result = results[at];
    expect(result).toMatchObject({ status: 'completed', usage: { calls: callsMax } });
    const calls = callsOfRun(stage, name).map(({ body }) => JSON.stringify(body));
    expect(calls).toHaveLength(callsMax);
    expect(calls.filter((body) => !body.includes(own))).toEqual([]);
    const seen = [
      ...calls,
      JSON.stringify([result, await stage.status(run), await stage.questions(run)]),
      JSON.stringify(await storedRecord(stage.home, name)),
      projectionOf(name),
    ].join('\n');
    expect(seen).toContain(`The ${own} of ${name}`);
    expect(seen.toLowerCase()).not.toContain(others.toLowerCase());
    const histories = await expectPromisesKept(stage, name);
    expect(findTraces(join(stage.home, name), histories, others)).toEqual([]);
  }
  // The fault fired: each turn of the one came before the next of the other.
  const order = stage.rehearsal.calls().map(({ callKey }) => nameOf(callKey));
  for (let turn = 0; turn < callsMax; turn += 1) {
    expect(new Set(order.slice(2 * turn, 2 * turn + 2))).toEqual(new Set(names));
  }
});
