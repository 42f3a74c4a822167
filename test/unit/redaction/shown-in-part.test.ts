import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUnconfinedRunner } from '../../../activities/adapters/sandbox/command-runner.ts';
import { createFileWorkspaces } from '../../../activities/adapters/workspaces/file-workspaces.ts';
import type { CommandEnd, CommandRunner } from '../../../activities/ports/command-runner.ts';
import type { RunChanges } from '../../../activities/ports/run-changes.ts';
import type { Worktrees } from '../../../activities/ports/worktrees.ts';
import {
  redactPages,
  redactRunChanges,
  redactRunner,
  redactWorktrees,
} from '../../../activities/redaction/redact-places.ts';
import { createRedactor } from '../../../redaction/create-redactor.ts';
import { planted } from '../../support/planted.ts';

/** A secret that crosses the place where a text is cut, or begins before it, is not shown in part either. */

const words = 'seven planted words that make one phrase';
const lines = `line one of ${planted.awsSecret}\nline two of it\nline three: the last`;
const redactor = createRedactor({ secrets: [planted.own, words, lines] });

const keyLines = planted.privateKey.split('\n');
const pieces = [
  planted.own,
  ...words.split(' ').filter(({ length }) => length > 5),
  ...lines.split('\n'),
  ...keyLines.slice(1, -1),
];
/** Finds the beginning or the end of any secret. */
const halvesIn = (text: string): string[] =>
  pieces.filter((piece) => text.includes(piece.slice(0, 10)) || text.includes(piece.slice(-10)));

const folders: string[] = [];
afterEach(() => {
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function createProject(files: Readonly<Record<string, string>>) {
  const top = mkdtempSync(join(tmpdir(), 'planwave-parts-'));
  folders.push(top);
  const dir = join(top, 'project');
  mkdirSync(dir);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  const workspaces = createFileWorkspaces({
    home: join(top, 'home'),
    keep: async () => 'a'.repeat(64),
    redactLines: (all) => redactor.redactLines(all, 'tool'),
  });
  return { workspaces, place: { run_id: 'my-run', dir } };
}

const range = { from: 1, charsMax: 20_000, lineCharsMax: 2_000 };

const readLines = async (text: string, over: Partial<typeof range> = {}) => {
  const { workspaces, place } = createProject({ 'a.txt': text });
  const found = await workspaces.readLines(place, 'a.txt', { ...range, ...over });
  if (found.lines === null) throw new Error('no text');
  return { shown: found.lines.map((line) => line.text), found };
};

describe('lines of a file', () => {
  it('keep their numbers where a private key was', async () => {
    const { shown } = await readLines(`a\r\n${planted.privateKey}\nb\n`);
    const marks = keyLines.map(() => '[redacted:privatekey]');
    expect(shown).toEqual(['a', ...marks, 'b']);
  });

  it.each([3, 5, 8])('show nothing of a key that begins before line %d', async (from) => {
    const { shown } = await readLines(`a\n${planted.privateKey}\nb\n`, { from, charsMax: 70 });
    expect(halvesIn(shown.join('\n'))).toEqual([]);
    expect(shown).toHaveLength(2);
  });

  it.each([1_975, 1_985, 1_995])(
    'show no half of a secret that begins in column %d',
    async (at) => {
      for (const secret of [planted.own, words]) {
        const { shown, found } = await readLines(`${'x'.repeat(at)} ${secret} rest\n${secret}\n`);
        expect(halvesIn(shown.join('\n'))).toEqual([]);
        const [first] = found.lines ?? [];
        expect(first?.text.length).toBe(2_000);
        expect(first?.chars_left).toBe(at + 1 + '[redacted:own-secret] rest'.length - 2_000);
      }
    },
  );

  it.each([
    ['begins above', { from: 3 }],
    ['ends below', { charsMax: 20 }],
  ])('show no half of a secret of several lines that %s', async (_where, over) => {
    const { shown } = await readLines(`a\n${lines}\nb\n`, over);
    expect(halvesIn(shown.join('\n'))).toEqual([]);
    expect(shown).toContain('[redacted:own-secret]');
  });

  it('stay what they are without a secret, in a long file too', async () => {
    const all = Array.from({ length: 90_000 }, (_, at) => `line ${at}`);
    const { shown, found } = await readLines(all.join('\n'), { from: 80_001, charsMax: 20 });
    expect(shown).toEqual(['line 80000', 'line 80001']);
    expect(found).toMatchObject({ lines_total: 90_000 });
  });
});

const search = async (text: string, pattern: string) => {
  const { workspaces, place } = createProject({ 'a.txt': text });
  const order = { pattern, path: '', glob: null, ignoreCase: false };
  const { matches } = await workspaces.search(place, order, AbortSignal.timeout(20_000));
  return matches;
};

describe('matches of a search', () => {
  it.each(['.', '^[A-Za-z0-9+/]{20}', keyLines[3]?.slice(0, 4) ?? ''])(
    'show no line of a private key for %s',
    async (pattern) => {
      const matches = await search(`a\n${planted.privateKey}\nb\n`, pattern);
      expect(matches.map(({ text }) => text)).toContain('[redacted:privatekey]');
      expect(halvesIn(JSON.stringify(matches))).toEqual([]);
    },
  );

  it.each([
    (line: string) => `  '${line}\\n' +`,
    (line: string) => `"${line}\\r\\n"`,
    (line: string) => `    "${line}\\n"`,
  ])('show no line of a private key in code, form %#', async (write) => {
    const matches = await search(`a\n${keyLines.map(write).join('\n')}\nb\n`, '.');
    expect(matches).toHaveLength(keyLines.length + 2);
    expect(halvesIn(JSON.stringify(matches))).toEqual([]);
  });

  it('show no half of a secret that crosses their limit', async () => {
    const [match] = await search(`${'x'.repeat(285)} ${planted.own} rest\n`, 'x');
    expect(halvesIn(match?.text ?? '')).toEqual([]);
    expect(match?.text).toHaveLength(300);
  });

  it('stay what they are in a file without a secret', async () => {
    const data = 'QUJDREVGR0hJSktMTU5PUFFS';
    expect(await search(`${data}\r\nword\n`, '.')).toEqual([
      { path: 'a.txt', line: 1, text: data },
      { path: 'a.txt', line: 2, text: 'word' },
    ]);
  });
});

describe('the output of a command', () => {
  const signal = AbortSignal.timeout(20_000);
  const command = {
    folder: tmpdir(),
    sharedFrom: null,
    argv: [],
    cwd: '',
    stdin: '',
    timeoutMs: 1,
  };
  const run = async (end: Partial<CommandEnd>, tail = ''): Promise<[string, string]> => {
    let shown = '';
    const runner: CommandRunner = {
      confined: true,
      run: async ({ onTail }) => {
        onTail?.(() => tail);
        return { ending: 'exited', exit_code: 0, duration_ms: 1, output: '', ...end };
      },
      endLeftovers: async () => {},
    };
    const onTail = (read: () => string): void => void (shown = read());
    const { output } = await redactRunner(runner, redactor).run({ ...command, onTail }, signal);
    return [output, shown];
  };

  it('is redacted before a tool cuts it', async () => {
    const [output] = await run({ output: `${'x\n'.repeat(4_000)}${planted.privateKey}\nend` });
    expect(output).toContain('\n[redacted:privatekey]\nend');
  });

  it('ends before a secret that was cut off', async () => {
    for (const secret of [planted.own, words, lines]) {
      const cut = `Hello, ${secret.slice(0, 20)}`;
      const noted = 'Hello, \n[The end is left out: a secret may begin there.]';
      expect(await run({ output: cut, ending: 'output' }, cut)).toEqual([noted, 'Hello, ']);
    }
    expect(await run({ output: 'All of it' }, 'Half of i')).toEqual(['All of it', 'Half of ']);
  });

  it('is whole where a program was killed, but for a secret that has begun', async () => {
    for (const output of ['....F....', 'Overwrite? (y/N)', '{"port":3000}']) {
      expect(await run({ output, ending: 'timeout' })).toEqual([output, '']);
    }
    const [output] = await run({
      output: `a\n${keyLines.slice(0, 3).join('\n')}`,
      ending: 'timeout',
    });
    expect(output).toMatch(/^a\n\n\[The end is left out/);
  });

  it('stays as it is written where it is JSON, but for secrets', async () => {
    const json = `{\n    "id": 12345678901234567890,\n    "token": "${planted.own}"\n}\n`;
    const [output] = await run({ output: json });
    expect(output).toBe(json.replace(planted.own, '[redacted:own-secret]'));
  });

  it('finding 3: of a long line its newest words are whole while it runs', async () => {
    // The last 8 KB begin within the secret.
    const script = `process.stdout.write(' ${planted.own} ' + 'y '.repeat(4085))`;
    const settings = { toolchains: [], sharedFolders: [] };
    const runner = redactRunner(createUnconfinedRunner(settings), redactor);
    const tails: (() => string)[] = [];
    const argv = [process.execPath, '-e', script];
    const onTail = (read: () => string): void => void tails.push(read);
    await runner.run({ ...command, argv, timeoutMs: 20_000, onTail }, signal);
    const shown = tails.map((read) => read()).join('');
    expect(shown).toContain('y y y');
    expect(halvesIn(shown)).toEqual([]);
  });
});

it('a patch is redacted before it is cut', async () => {
  const patch = `-${keyLines.join('\n-')}\n+${planted.own}\n`;
  const worktrees = { diff: async () => patch } satisfies Partial<Worktrees>;
  const changes = { propose: async () => ({ patch }) };
  const places = {
    // Of each, the one method that is looked at.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    worktrees: redactWorktrees(worktrees as Partial<Worktrees> as Worktrees, redactor),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    changes: redactRunChanges(changes as unknown as RunChanges, redactor),
  };
  const redacted = '-[redacted:privatekey]\n+[redacted:own-secret]\n';
  expect(await places.worktrees.diff({ run_id: 'r', dir: '/' })).toBe(redacted);
  const run = { run_id: 'r', dir: '/', delegation_ids: [], results_folders: [] };
  expect(await places.changes.propose(run)).toMatchObject({ patch: redacted });
});

it('a page is redacted before it is split', async () => {
  const page = { url: 'https://a.example/', title: 'A', text_md: `of ${words}`, bytes: 9 };
  const pages = redactPages({ fetch: async () => page }, redactor);
  const read = await pages.fetch(page.url, AbortSignal.timeout(20_000));
  expect(read).toEqual({ ...page, text_md: 'of [redacted:own-secret]' });
});
