import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRunInput } from '../../../client/cli/commands/start.ts';
import { createFakeIo } from './support/fake-io.ts';

const cwd = mkdtempSync(join(tmpdir(), 'planwave-input-'));
const deps = { cwd, io: createFakeIo() };
writeFileSync(
  join(cwd, 'run.json'),
  '\uFEFF{"goal":"from file","constraints":["a"],"limits":{"max_waves":3,"max_turns":9}}',
);
writeFileSync(join(cwd, 'list.json'), '[1]');
writeFileSync(join(cwd, 'broken.json'), '{"goal":');
writeFileSync(join(cwd, 'faults.json'), '{"goal":"","typo":1,"limits":{"max_waves":-1}}');

afterAll(() => {
  rmSync(cwd, { recursive: true });
});

it('takes the file, and over it what was given', async () => {
  const input = await readRunInput(deps, 'given', { input: 'run.json', maxWaves: 5 });
  expect(input).toEqual({
    goal: 'given',
    constraints: ['a'],
    limits: { max_waves: 5, max_turns: 9 },
  });
});

it('takes what is to happen to questions that nobody answers', async () => {
  const options = { assume: true, deadline: 60, escalateTo: 'Maria', escalateAfter: 30 };
  expect(await readRunInput(deps, 'given', options)).toEqual({
    goal: 'given',
    autonomy: 'assume',
    questions: { deadline_seconds: 60, escalate_to: { person: 'Maria', after_seconds: 30 } },
  });
  await expect(readRunInput(deps, 'given', { escalateTo: 'Maria' })).rejects.toThrow(
    /questions\.escalate_to\.after_seconds: /,
  );
});

it('changes one part of what a file says about questions, and leaves the others', async () => {
  const io = createFakeIo();
  const escalate_to = { person: 'Maria', after_seconds: 30 };
  io.stdin.end(JSON.stringify({ goal: 'given', questions: { deadline_seconds: 60, escalate_to } }));
  const given = { input: '-', escalateTo: 'Bob' };
  expect(await readRunInput({ cwd, io }, undefined, given)).toEqual({
    goal: 'given',
    questions: { deadline_seconds: 60, escalate_to: { person: 'Bob', after_seconds: 30 } },
  });
});

it('lets one criterion or every output be verified, and not both at once', async () => {
  const verifyCriteria = ['goal-1', 'goal-3'];
  expect(await readRunInput(deps, 'given', { verifyCriteria })).toMatchObject({
    verify: verifyCriteria,
  });
  expect(await readRunInput(deps, 'given', { verify: true })).toMatchObject({ verify: true });
  await expect(readRunInput(deps, 'given', { verify: true, verifyCriteria })).rejects.toThrow(
    'Expected one of --verify and --verify-criteria. Try: leave the others out',
  );
});

it('does without triads or teams when told so, and else as the file says', async () => {
  expect(await readRunInput(deps, 'given', { triads: false })).toMatchObject({ triads: false });
  expect(await readRunInput(deps, 'given', { teams: false })).toMatchObject({ teams: false });
  // Without --no-triads and --no-teams the parser says true.
  expect(await readRunInput(deps, 'given', { triads: true, teams: true })).toEqual({
    goal: 'given',
  });
});

it('reads standard input', async () => {
  const io = createFakeIo();
  io.stdin.end('{"goal":"piped"}');
  expect(await readRunInput({ cwd, io }, undefined, { input: '-' })).toEqual({ goal: 'piped' });
});

it.each([
  ['nofile.json', /can't be read: .*ENOENT/],
  ['list.json', /list\.json: expected one JSON object\. Try: \{"goal"/],
  ['broken.json', /broken\.json is not JSON/],
])('refuses %s with its name', async (file, message) => {
  await expect(readRunInput(deps, undefined, { input: file })).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(message) as unknown,
  });
});

it('fault 45: names every fault at once', async () => {
  const reading = readRunInput(deps, undefined, { input: 'faults.json' });
  await expect(reading).rejects.toThrow(/goal: .*limits\.max_waves: .*typo/s);
});

it.each([
  [{ limits: { max_wave: 3 } }, 'limits: unknown field "max_wave". Did you mean "max_waves"?'],
  [{ colour: 1 }, 'the input: unknown field "colour". Fields are: "goal", '],
  [
    { mode: 'desinged' },
    'mode: expected one of "direct", "designed", "auto". Did you mean "designed"?',
  ],
  [{ mode: 'waterfall' }, /mode: expected one of "direct", "designed", "auto"$/],
  [{ mode: 'foo' }, /mode: expected one of "direct", "designed", "auto"$/],
])('says for %j which names there are', async (over, message) => {
  const io = createFakeIo();
  io.stdin.end(JSON.stringify({ goal: 'given', ...over }));
  const reading = readRunInput({ cwd, io }, undefined, { input: '-' });
  await expect(reading).rejects.toThrow(message);
});

it.each([
  [{ apply: true }, 'apply'],
  [{ apply: false }, 'keep'],
  [{ commit: true }, 'commit'],
  [{ direct: true }, 'direct'],
] as const)('takes %j as the fate of the changes', async (options, changes) => {
  const workspace = { workspace_dir: join(cwd, 'shop') };
  expect(await readRunInput(deps, 'given', { ...options, workspace: 'shop' })).toEqual({
    goal: 'given',
    changes,
    ...workspace,
  });
  const io = createFakeIo();
  io.stdin.end(JSON.stringify(workspace));
  const read = await readRunInput({ cwd, io }, 'given', { ...options, input: '-' });
  expect(read).toMatchObject({ changes, ...workspace });
});

it.each([
  [{ apply: true }, '--apply changes nothing without --workspace <folder>. Try: '],
  [{ apply: false }, '--no-apply changes nothing without --workspace <folder>. Try: '],
  [{ commit: true }, '--commit changes nothing without --workspace <folder>. Try: '],
  [{ direct: true }, '--direct changes nothing without --workspace <folder>. Try: '],
  [{ as: 'Ana' }, '--as changes nothing without --watch. Try: add it, or leave --as out'],
  [{ yes: true }, '--yes changes nothing without --mode designed or --mode auto. Try: '],
  [
    { researchMaxAge: 3, mode: 'direct' },
    '--research-max-age changes nothing without --mode designed or --mode auto. Try: ',
  ],
])('refuses %j, which changes nothing alone', async (options, message) => {
  await expect(readRunInput(deps, 'given', options)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining(message) as unknown,
  });
});

it.each([
  { as: 'Ana', watch: true },
  { yes: true, researchMaxAge: 3, mode: 'auto' },
])('takes %j', async (options) => {
  expect(await readRunInput(deps, 'given', options)).toMatchObject({ goal: 'given' });
});

it('refuses two fates of the changes', async () => {
  await expect(readRunInput(deps, 'given', { apply: true, direct: true })).rejects.toThrow(
    /one of --apply, --no-apply, --commit and --direct\. Try: /,
  );
});
