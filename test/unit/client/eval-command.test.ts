import { readFileSync } from 'node:fs';
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
