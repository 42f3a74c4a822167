import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAgentFiles, loadAgents } from '../../../activities/adapters/agent-files.ts';
import { AgentFilesInvalid } from '../../../activities/ports/agent-source.ts';
import { shippedTools } from '../../support/file-workspaces.ts';
import { createTemporaryHome } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
  await mkdir(at.home);
});
afterEach(() => at.remove());

const minimal = '---\nname: helper\ndescription: Helps.\n---\nHelp.\n';
const write = (name: string, text: string | Uint8Array): Promise<void> =>
  writeFile(join(at.home, name), text);
const loadOne = async (text: string) => {
  await write('agent.md', text);
  return (await loadAgents([at.home]))[0];
};
/** The words in code marks of a table's cell. */
const wordsOf = (cell = ''): string[] => [...cell.matchAll(/`(\w+)`/gu)].map(([, one = '']) => one);
/** The faults of the given files, as `file:line: reason`. */
const faultsOf = async (files: Record<string, string | Uint8Array>, knownTools?: string[]) => {
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const error = await loadAgents([at.home], { knownTools }).catch((thrown: unknown) => thrown);
  if (!(error instanceof AgentFilesInvalid)) throw new Error('expected faults');
  expect(error.message).toBe(
    error.faults.map((fault) => `${fault.file}:${fault.line}: ${fault.reason}`).join('\n'),
  );
  return error.message.replaceAll(`${at.home}/`, '').split('\n');
};

/** A list of YAML that repeats an item. */
const ten = (item: string): string => `[${Array.from({ length: 10 }, () => item).join(', ')}]`;

describe('an agent file', () => {
  it('needs a name, a description and a prompt', async () => {
    expect(await loadOne(minimal)).toEqual({
      agent_id: 'helper',
      description: 'Helps.',
      capabilities: [],
      allowed_tools: [],
      risk_level: 'low',
      model: null,
      prompt: 'Help.',
    });
  });

  it('can be as people write it for Claude Code', async () => {
    const text =
      '\ufeff---\r\nname: Code Reviewer\r\ndescription: "Use it: always."\r\ntools: Read, Grep ,Read\r\nmodel: sonnet\r\ncolor: red\r\npermissionMode: plan\r\n---\r\n\r\n# You review\r\n\r\n---\r\nBe strict.\r\n';
    expect(await loadOne(text)).toMatchObject({
      agent_id: 'code-reviewer',
      description: 'Use it: always.',
      allowed_tools: ['read_file', 'list_files', 'search_files'],
      model: 'claude-sonnet-5-5',
      prompt: '# You review\n\n---\nBe strict.',
    });
  });

  it('of Claude Code goes without tools that the worker does not have, and that is said', async () => {
    const said: string[] = [];
    await write('agent.md', minimal.replace('Helps.\n', 'Helps.\ntools: Edit, Bash, WebFetch\n'));
    const [agent] = await loadAgents([at.home], {
      knownTools: ['edit_file'],
      onLeftOut: (words) => said.push(words),
    });
    expect(agent?.allowed_tools).toEqual(['edit_file']);
    expect(said).toEqual([expect.stringMatching(/agent\.md: .* without Bash, WebFetch/)]);
  });

  it('of Claude Code has the tools that the table of docs/agents.md names', async () => {
    const page = readFileSync(new URL('../../../docs/agents.md', import.meta.url), 'utf8');
    const [, table = ''] = /^\| Claude Code +\| planwave +\|\n([^]*?)\n\n/mu.exec(page) ?? [];
    const rows = table.split('\n').map((row) => row.split('|').slice(1, 3));
    const pairs = rows.flatMap(([from, to]) => wordsOf(from).map((name) => [name, wordsOf(to)]));
    const knownTools = [...shippedTools(at.home).keys()];
    const found: unknown[] = [];
    for (const [name] of pairs) {
      await write('agent.md', minimal.replace('Helps.\n', `Helps.\ntools: ${String(name)}\n`));
      const [agent] = await loadAgents([at.home], { knownTools });
      found.push([name, agent?.allowed_tools]);
    }
    expect(found).toEqual(pairs);
    const named = pairs.map(([name]) => name);
    expect(named).toEqual(
      expect.arrayContaining(['Read', 'Grep', 'Glob', 'Edit', 'Write', 'Bash']),
    );
  });

  it("finding T5: is read from the worker's folders only", async () => {
    await write('agent.md', minimal);
    const roots = [join(at.home, 'agents')];
    await expect(loadAgents([at.home], { roots })).rejects.toThrow(
      /none of .*Try: .*PLANWAVE_AGENTS/,
    );
    expect(await loadAgents([at.home], { roots: [at.home] })).toHaveLength(1);
  });

  it('can have lists, capabilities and a risk level', async () => {
    const text =
      '---\nname: Étude de Marché\ndescription: |\n  Two\n  lines.\ntools:\n  - a\n  - b\ncapabilities: [x, y]\nrisk_level: high\nmodel: inherit\n---\nDo.';
    expect(await loadOne(text)).toMatchObject({
      agent_id: 'etude-de-marche',
      allowed_tools: ['a', 'b'],
      capabilities: ['x', 'y'],
      risk_level: 'high',
      model: null,
    });
  });

  it.each<[string, string, string]>([
    ['no front matter', 'Just text', 'a.md:1: expected front matter: the first line must be "---"'],
    ['no end', '---\nname: a\n', 'a.md:1: the front matter has no end: expected a line "---"'],
    [
      'no name',
      '---\ndescription: d\n---\nDo.',
      'a.md:3: "name" is missing: expected a line "name: …"',
    ],
    [
      'an empty name',
      '---\nname:\ndescription: d\n---\nDo.',
      'a.md:2: "name" is empty: expected a line "name: …"',
    ],
    [
      'a name that is a number',
      '---\nname: 7\ndescription: d\n---\nDo.',
      'a.md:2: "name" must be text. Try: put it in double quotes',
    ],
    [
      'a name without letters',
      '---\nname: "!!"\ndescription: d\n---\nDo.',
      'a.md:2: "name": expected 1 to 40 lower-case letters, digits, "-" or "_". Try: "market-research"',
    ],
    [
      'an unknown key',
      '---\nname: a\ndescripton: d\ndescription: d\n---\nDo.',
      'a.md:3: unknown key "descripton": did you mean "description"?',
    ],
    [
      'a key like no other',
      '---\nname: a\ndescription: d\nxyzzy: 1\n---\nDo.',
      'a.md:4: unknown key "xyzzy": expected one of name, description, tools, model, capabilities, risk_level',
    ],
    [
      'an unknown risk level',
      '---\nname: a\ndescription: d\nrisk_level: extreme\n---\nDo.',
      'a.md:4: unknown risk_level "extreme": expected low, medium or high',
    ],
    [
      'tools that are no words',
      '---\nname: a\ndescription: d\ntools: {a: 1}\n---\nDo.',
      'a.md:4: "tools" must be a list of words. Try: "tools: one, two"',
    ],
    [
      'an empty prompt',
      '---\nname: a\ndescription: d\n---\n \n',
      'a.md:4: the prompt is empty: expected text below the front matter',
    ],
    [
      'a restriction that would be lost',
      '---\nname: a\ndescription: d\ndisallowedTools: Bash\n---\nDo.',
      'a.md:4: unknown key "disallowedTools": expected one of name, description, tools, model, capabilities, risk_level',
    ],
    [
      'a tab as an indentation',
      '---\nname: a\ncapabilities:\n\t- x: 1\n\t  y: 2\n\t- z\n---\nDo.',
      'a.md:4: this is no YAML: Tabs are not allowed as indentation. Try: indent with spaces.',
    ],
    [
      'a sentence with a colon',
      '---\nname: a\ndescription: Use it: always\n---\nDo.',
      'a.md:3: this is no YAML: Nested mappings are not allowed in compact mappings. Try: put the text in double quotes.',
    ],
  ])('with %s is refused with file and line', async (_title, text, fault) => {
    expect(await faultsOf({ 'a.md': text })).toEqual([fault]);
  });

  it('with an alias of YAML has a line for each that leads nowhere, as all faults have', async () => {
    const alias = '---\nname: a\ndescription: *all\ntools: [*b]\n---\nDo.';
    const bomb = `---\nname: b\nx: &x ${ten('x')}\ny: &y ${ten('*x')}\nz: ${ten('*y')}\n---\nDo.`;
    const faults = await faultsOf({ 'a.md': alias, 'b.md': bomb, 'c.md': 'Just text' });
    expect(faults).toEqual([
      expect.stringMatching(/^a\.md:3: this is no YAML: Unresolved alias .*: all\. Try: .*quotes/),
      expect.stringMatching(/^a\.md:4: this is no YAML: Unresolved alias .*: b\. Try: .*quotes/),
      expect.stringMatching(/^b\.md:5: this is no YAML: Excessive alias count/),
      expect.stringContaining('c.md:1: expected front matter'),
    ]);
  });

  it('with an alias of YAML that contains itself is refused with its line', async () => {
    const text = '---\nname: a\ndescription: d\ntools: &a [x, *a]\nmodel: &m { k: *m }\n---\nDo.';
    const fault =
      'this is no YAML: An alias contains itself. Try: write the value out, or put the text in double quotes.';
    expect(await faultsOf({ 'a.md': text })).toEqual([`a.md:4: ${fault}`, `a.md:5: ${fault}`]);
  });

  it('with an alias of YAML that has its anchor is read', async () => {
    const text = '---\nname: a\ndescription: &d Helps.\ncapabilities: [*d]\n---\nDo.';
    expect(await loadOne(text)).toMatchObject({ capabilities: ['Helps.'] });
  });

  it('that is no UTF-8 is refused', async () => {
    const [fault] = await faultsOf({ 'a.md': Uint8Array.from([0xff, 0xfe, 0x00]) });
    expect(fault).toContain('a.md:1: expected a text file in UTF-8');
  });

  it('may use only tools that exist, when these are known', async () => {
    const text = '---\nname: a\ndescription: d\ntools: load_detial, rm\n---\nDo.';
    expect(await faultsOf({ 'a.md': text }, ['load_detail'])).toEqual([
      'a.md:4: unknown tool "load_detial": did you mean "load_detail"? For a tool of yours, name its module in PLANWAVE_TOOLS, for the worker and in the shell that checks',
      'a.md:4: unknown tool "rm": expected one of load_detail. For a tool of yours, name its module in PLANWAVE_TOOLS, for the worker and in the shell that checks',
    ]);
  });
});

describe('directories of agents', () => {
  it('all faults of all files come at once', async () => {
    const faults = await faultsOf({
      'a.md': '---\nnmae: a\n---\n',
      'b.md': minimal,
      'c.md': minimal,
      'd.md': 'nothing',
    });
    expect(faults).toEqual([
      'a.md:2: unknown key "nmae": did you mean "name"?',
      'a.md:3: "name" is missing: expected a line "name: …"',
      'a.md:3: the prompt is empty: expected text below the front matter',
      'a.md:3: "description" is missing: expected a line "description: …"',
      `c.md:2: the name "helper" is taken by "b.md": expected another name`,
      'd.md:1: expected front matter: the first line must be "---"',
    ]);
  });

  it('a later directory replaces an agent of an earlier one', async () => {
    await write('helper.md', minimal);
    await write('other.md', minimal.replace('helper', 'other'));
    await writeFile(join(at.outside, 'mine.md'), minimal.replace('Help.', 'My way.'));
    const source = createAgentFiles([at.home, at.outside]);
    const agents = await source.load();
    expect(agents.map(({ agent_id, prompt }) => [agent_id, prompt])).toEqual([
      ['helper', 'My way.'],
      ['other', 'Help.'],
    ]);
  });

  it('README.md and other files are no agents', async () => {
    await write('README.md', 'About these agents.');
    await write('notes.txt', 'no agent');
    await write('helper.md', minimal);
    expect(await loadAgents([at.home])).toHaveLength(1);
  });

  it('the same directory twice is a fault, however it is spelled', async () => {
    const link = join(at.outside, 'link');
    await symlink(at.home, link);
    await expect(loadAgents([at.home, link])).rejects.toMatchObject({
      type: 'InvalidInput',
      faults: expect.arrayContaining([
        { file: link, line: 1, reason: `this directory is listed twice: it is "${at.home}"` },
      ]),
    });
  });

  it('a shipped agent goes without a tool that the machine lacks and says so; one of the user’s is refused', async () => {
    const runs = minimal.replace('\n---', '\ntools: load_detail, run_command\n---');
    await write('helper.md', runs);
    const options = {
      knownTools: ['load_detail'],
      missingTools: { run_command: 'bubblewrap is not installed. Try: apt install bubblewrap' },
    };
    expect(await loadAgents([at.home], { ...options, shippedDir: at.home })).toMatchObject([
      {
        description: expect.stringMatching(/On this machine it has no run_command\.$/),
        allowed_tools: ['load_detail'],
      },
    ]);
    await writeFile(join(at.outside, 'mine.md'), runs);
    await expect(
      loadAgents([at.home, at.outside], { ...options, shippedDir: at.home }),
    ).rejects.toThrow(
      'the tool "run_command" can\'t be used here: bubblewrap is not installed. Try',
    );
  });

  it('finding L9: a directory without an agent is a fault', async () => {
    await write('README.md', 'About these agents.');
    await expect(loadAgents([at.home])).rejects.toThrow('expected at least one agent file');
  });

  it('finding T5: a pipe and a huge file are faults, and nothing waits for them', async () => {
    execFileSync('mkfifo', [join(at.home, 'pipe.md')]);
    await write('huge.md', new Uint8Array(1024 * 1024 + 1));
    const faults = await faultsOf({});
    expect(faults).toEqual([
      'huge.md:1: expected a regular file of at most 1 MB',
      'pipe.md:1: expected a regular file of at most 1 MB',
    ]);
  });

  it('a missing directory is a fault', async () => {
    await expect(loadAgents([join(at.home, 'no')])).rejects.toThrow(
      ':1: expected a directory with agent files',
    );
  });
});
