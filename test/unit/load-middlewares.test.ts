import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import {
  createMiddlewareRegistry,
  createShippedMiddlewares,
} from '../../activities/middlewares/shipped-middlewares.ts';
import type { MiddlewareContext } from '../../activities/ports/middleware.ts';
import type { ApplyMiddlewareInput, ApplyMiddlewareResult } from '../../contracts/team-run.ts';
import { createRedactor } from '../../redaction/create-redactor.ts';
import { createDoctorChecks } from '../../scripts/doctor-checks.ts';
import { readSettings } from '../../scripts/parts/settings.ts';
import { createActivities } from '../../worker/create-activities.ts';
import { createFileArtifactStore } from '../../activities/adapters/file-store/file-artifact-store.ts';
import { computeBuildId, hashModule } from '../../worker/bundle-workflows.ts';
import { loadMiddlewares } from '../../worker/load-modules.ts';
import { faultOf as moduleFault, useModuleFolder } from '../support/module-files.ts';

const { folder, write } = useModuleFolder();
const faultOf = (file: string): Promise<string> => moduleFault(loadMiddlewares(file));

const example = /```js\n([^]*?)```/.exec(readFileSync('docs/middlewares.md', 'utf8'))?.[1] ?? '';

const context: MiddlewareContext = {
  stage: 'input',
  run_id: 'my-run',
  delegation_id: 'work',
  signal: new AbortController().signal,
};

it('loads the example of the documentation, which does what it says', async () => {
  const list = await loadMiddlewares(write('example.mjs', example));
  const shipped = createShippedMiddlewares(createRedactor({ secrets: [] }));
  const registry = createMiddlewareRegistry([...shipped, ...list]);
  const of = async (name: string, text: string) => registry.get(name)?.apply(text, context);
  expect(await of('no-phone-numbers', 'Call +49 30 1234567.')).toEqual({
    type: 'pass',
    text: 'Call [phone number].',
    note: 'phone numbers taken out: 1',
  });
  expect(await of('no-phone-numbers', 'Call.')).toEqual({ type: 'pass' });
  expect(await of('own-customers-only', 'A competitor')).toMatchObject({ type: 'ask' });
  expect(await of('own-customers-only', 'For ACME')).toMatchObject({ type: 'block' });
  expect(await of('own-customers-only', 'For Bob')).toEqual({ type: 'pass' });
});

it('a worker applies those of a module beside the shipped ones, on what its store holds', async () => {
  const list = await loadMiddlewares(write('worker.mjs', example));
  const home = join(folder, 'home');
  const settings = { home, apiKey: 'rehearsal', baseUrl: undefined, defaultModel: 'rehearsal' };
  const { applyMiddleware } = createActivities(
    { ...settings, isRehearsal: true },
    createRedactor({ secrets: [] }),
    {},
    undefined,
    list,
  );
  const store = createFileArtifactStore({ home });
  const subject_ref = await store.put('Call +49 30 1234567.');
  const input: ApplyMiddlewareInput = {
    name: 'no-phone-numbers',
    kind: 'middleware',
    stage: 'input',
    run_id: 'my-run',
    delegation_id: 'work',
    subject_ref,
  };
  const env = new MockActivityEnvironment();
  const result: ApplyMiddlewareResult = await env.run(applyMiddleware, input);
  if (result.type !== 'passed') throw new Error('It did not pass.');
  expect(await store.getText(result.subject_ref)).toBe('Call [phone number].');
});

it('without a module there are none', async () => {
  expect(await loadMiddlewares(undefined)).toEqual([]);
});

it('takes methods of a class', async () => {
  const file = write(
    'class.mjs',
    `class Own { name = 'own'; kind = 'guardrail'; stages = ['output']; apply() { return { type: 'pass' }; } }
     export const middlewares = [new Own()];`,
  );
  expect(await loadMiddlewares(file)).toMatchObject([{ name: 'own' }]);
});

it.each([
  ['absent', null, "it can't be loaded: "],
  ['broken', 'export const = 5;', "it can't be loaded: "],
  ['throwing', `throw new Error('no database');`, "it can't be loaded: no database"],
  ['empty', 'export const other = [];', 'it has no export "middlewares"'],
  [
    'number',
    'export const middlewares = 5;',
    'middlewares: expected a list, got a value of type number',
  ],
])('a module that is %s is told with its file and what to do', async (name, text, said) => {
  const path = `bad/${name}.mjs`;
  const file = text === null ? join(folder, path) : write(path, text);
  const message = await faultOf(file);
  expect(message).toContain(`PLANWAVE_MIDDLEWARES can't be used: ${file}\n- ${said}`);
  expect(message).toMatch(/\nTry: .+\.$/);
});

it('tells all that is wrong with a list at once', async () => {
  const file = write(
    'faults.mjs',
    `const apply = () => ({ type: 'pass' });
     export const middlewares = [
       { name: 'Own', kind: 'middleware', stages: ['input'], apply },
       { name: 'size-limit', kind: 'guard', stages: [], apply },
       null,
       { name: 'a', kind: 'guardrail', stages: ['input', 'input'] },
       { name: 'a', kind: 'guardrail', stages: 'output', apply },
     ];`,
  );
  const lines = (await faultOf(file)).split('\n').filter((line) => line.startsWith('- '));
  expect(lines.map((line) => line.split(';')[0])).toEqual([
    '- middlewares[0].name: expected 1 to 40 lower-case letters, digits, "-" or "_". Try: "no-phone-numbers"',
    '- middlewares[1].name: "size-limit" is used already. Try: another name',
    '- middlewares[1].kind: expected "middleware" or "guardrail"',
    '- middlewares[1].stages: expected a list of "input", "output" or both, each once',
    '- middlewares[2]: expected an object, got null',
    '- middlewares[3].stages: expected a list of "input", "output" or both, each once',
    '- middlewares[3].apply: expected a function of a text and a context',
    '- middlewares[4].name: "a" is used already. Try: another name',
    '- middlewares[4].stages: expected a list of "input", "output" or both, each once',
  ]);
});

/** A module that imports two others, one of which imports it. */
function writeThree(place: string, words: string): string {
  write(`${place}/lib/words.mjs`, words);
  write(`${place}/again.mjs`, `import './own.mjs';`);
  return write(
    `${place}/own.mjs`,
    `import { words } from './lib/words.mjs';\nimport('./again.mjs');\n// from './nobody.mjs'`,
  );
}

describe('the build id', () => {
  it('changes with the module, and with what it imports', async () => {
    const first = writeThree('one', 'export const words = 1;');
    const none = await computeBuildId();
    const before = await computeBuildId([first]);
    expect(before).toMatch(/^planwave\+[0-9a-f]{12}$/);
    expect(before).not.toBe(none);
    writeThree('one', 'export const words = 2;');
    expect(await computeBuildId([first])).not.toBe(before);
  });

  it('is the same wherever the module lies', async () => {
    const [one, two] = ['a', 'b/c'].map((place) => writeThree(place, 'export const words = 1;'));
    expect(await hashModule(one ?? '')).toBe(await hashModule(two ?? ''));
  });
});

describe('doctor', () => {
  const check = createDoctorChecks(readSettings({})).find(({ name }) => name === 'Middlewares');
  afterEach(() => {
    delete process.env['PLANWAVE_MIDDLEWARES'];
  });

  it('names what there is', async () => {
    const { ok, detail } = (await check?.run()) ?? {};
    expect({ ok, detail }).toEqual({
      ok: true,
      detail: 'redact-secrets, size-limit, instruction-in-data; no PLANWAVE_MIDDLEWARES',
    });
    process.env['PLANWAVE_MIDDLEWARES'] = write('doctor.mjs', example);
    expect((await check?.run())?.detail).toContain('no-phone-numbers, own-customers-only of ');
  });

  it('says what is wrong', async () => {
    process.env['PLANWAVE_MIDDLEWARES'] = write('doctor-bad.mjs', 'export const middlewares = 5;');
    expect(await check?.run()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('expected a list, got a value of type number'),
      cure: expect.stringContaining('correct the module'),
    });
    process.env['PLANWAVE_MIDDLEWARES'] = 'own.json';
    expect((await check?.run())?.ok).toBe(false);
  });
});
