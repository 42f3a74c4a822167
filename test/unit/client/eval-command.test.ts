import { readFileSync } from 'node:fs';
import type { ClientContext } from '../../../client/server-calls.ts';
import { evaluate } from '../../../client/start-run.ts';
import { EvaluationInput } from '../../../contracts/evaluation.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';

const page = readFileSync(new URL('../../../docs/evaluation.md', import.meta.url), 'utf8');
const [, example = ''] = /```yaml\n(name: backup\n[\s\S]*?)```/.exec(page) ?? [];

async function check(text: string): Promise<{ readonly code: number; readonly out: string }> {
  const io = createFakeIo();
  io.stdin.end(text);
  const code = await runCli(['eval', '-', '--check'], createFakeDeps(io));
  return { code, out: io.out() };
}

it('docs/evaluation.md shows what eval --check prints', async () => {
  expect(await check(example)).toEqual({ code: 0, out: 'standard input: 15 cells, no finding.\n' });
  const faulty = example
    .replace('kind: rubric', 'kind: rubrik')
    .replace('run: model', 'run: modell');
  const { code, out } = await check(faulty);
  expect(code).toBe(2);
  expect(page).toContain(out.replaceAll('standard input:', 'goals.yaml:'));
});

it('--check names file, place and reference of a schema that lacks a part', async () => {
  const { code, out } = await check(
    `${example}graders:\n  - kind: schema\n    schema:\n      items:\n        $ref: '#/$defs/nope'\n`,
  );
  const line = example.split('\n').length + 4;
  expect({ code, out }).toEqual({
    code: 2,
    out: expect.stringMatching(
      String.raw`^standard input:${line}:9: the schema has no "#/\$defs/nope", .*Try: .*\(evaluation\)\n$`,
    ),
  });
});

it('a JUnit file in a folder that is missing is refused before anything is bought', async () => {
  const io = createFakeIo();
  io.stdin.end(example);
  const started: unknown[] = [];
  const deps = createFakeDeps(io, {
    evaluate: (input) => {
      started.push(input);
      return Promise.reject(new Error('must not start'));
    },
  });
  expect(await runCli(['eval', '-', '--junit', 'no-such/x.xml'], deps)).toBe(2);
  expect(io.err()).toMatch(/^--junit: there is no folder .*no-such\. Try: a file in a folder/);
  expect(started).toEqual([]);
});

it('an evaluation has its name in the memo, by which a client without keys sees that it is encrypted', async () => {
  const started: unknown[] = [];
  // No more of the context than this function uses.
  const context: ClientContext = Object.assign(Object.create(null), {
    taskQueue: 'planwave',
    redact: (input: unknown) => input,
    connection: { withDeadline: (_deadline: number, work: () => unknown) => work() },
    workflows: { start: async (_type: string, options: unknown) => started.push(options) },
  });
  const goals = [{ name: 'a', goal: 'Compare two ways' }];
  const settings = [{ name: 'direct', run: 'direct' }];
  await evaluate(context, EvaluationInput.parse({ name: 'secret-plan', goals, settings }));
  expect(started).toEqual([expect.objectContaining({ memo: { goal: 'secret-plan' } })]);
});
