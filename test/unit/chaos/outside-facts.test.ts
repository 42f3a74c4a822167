import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashBytes } from '../../../activities/text/bytes.ts';
import { readOutside } from '../../chaos/outside-facts.ts';

const home = mkdtempSync(join(tmpdir(), 'planwave-outside-'));
const dir = join(home, 'user');
const callLog = join(home, 'calls.log');
afterAll(() => rmSync(home, { recursive: true, force: true }));
beforeEach(() => {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'a.txt'), 'one\n');
  writeFileSync(callLog, 'start 1\ncall echo\necho p1\ncall echo\necho p2\necho p2\n');
});

type RunRecord = Parameters<typeof readOutside>[2];

/** Reads a record with an edit, a command and a call, whose run applied its changes or kept them. */
function read(state: 'applied' | 'kept', given: Record<string, string>, edited = 'one\n') {
  const receipt = (target: string, more: object = {}) => ({
    target,
    sha256: hashBytes(edited),
    bytes: 4,
    ...more,
  });
  const effects = [
    ['edit_file', 'a.txt', receipt('a.txt')],
    ['run_command', 'sh', receipt('sh', { command: { exit_code: 0 } })],
    ['mcp__odd__echo', 'odd', receipt('odd', { call: true })],
  ].map(([tool, target, made], at) => ({
    effect_id: `p${at}/effect-1`,
    state: 'confirmed',
    reason: '',
    tool,
    target,
    receipt: made,
  }));
  const record = { workspace_dir: dir, settled_changes: { state }, effects };
  const parsed: RunRecord = JSON.parse(JSON.stringify(record));
  return readOutside(home, 'run', parsed, { given, callLog });
}

it('files are those of the last edits, and commands and calls name none', () => {
  const facts = read('applied', { 'a.txt': 'begin\n' });
  expect(facts).toEqual({
    files: { 'a.txt': 'one\n' },
    effects: [
      'p0/effect-1: edit_file confirmed',
      'p1/effect-1: run_command confirmed',
      'p2/effect-1: mcp__odd__echo confirmed',
    ],
    effectFaults: [],
    outsideCalls: { p1: 1, p2: 2 },
  });
});

it('a file that no edit wrote, and a folder that was changed though its changes are kept, are faults', () => {
  expect(read('applied', {}, 'two\n').effectFaults).toEqual([
    'a.txt is not what its last effect wrote',
  ]);
  expect(read('kept', { 'a.txt': 'begin\n' }).effectFaults).toEqual([
    'the folder was changed, though its changes are kept: a.txt',
  ]);
  expect(read('kept', { 'a.txt': 'one\n' }).effectFaults).toEqual([]);
});
