import { allFiles, read } from './repository.ts';

/** Attempts that the table of docs/security.md must name: whoever removes one has to say so here. */
const attempts = [
  'links created before the access',
  'links created during the access',
  '`..`',
  'absolute paths',
  'FIFOs',
  'sockets',
  'hard links',
  'huge files',
  'binary files and invalid UTF-8',
  'newlines in names',
  '200 generated paths',
  'a repository in place of a worktree, or inside it',
  'a `.git` file that points elsewhere',
  "hooks, filters and monitors of the user's configuration",
  'commands that fork',
  'commands that daemonise',
  'commands that fill the disk',
  'commands that print without end',
  'commands that fill memory',
  'commands that ignore SIGTERM',
  'commands that look for the network',
  'commands that look for the environment or other processes',
  'commands that look for the store',
  'commands that look for the user’s home',
  'new namespaces and capabilities',
];

const [, section = ''] =
  /^## Attempts to leave a workspace$([^]*?)^## /mu.exec(read('docs/security.md')) ?? [];
const rows = section
  .split('\n')
  .filter(
    (line) => line.startsWith('| ') && !line.startsWith('| attempt') && !line.startsWith('| --'),
  )
  .map((line) => line.split('|').map((cell) => cell.trim()));

it('docs/security.md names every attempt to leave a workspace once', () => {
  expect(rows.map(([, attempt]) => attempt)).toEqual(attempts);
});

it.each(rows.map(([, attempt = '', , link = '']) => [attempt, link] as const))(
  'the attempt with %s has the test that its row names',
  (_attempt, link) => {
    const [, title = '', path = ''] = /^\[(.+)\]\(\.\.\/(.+)\)$/u.exec(link) ?? [];
    expect(allFiles).toContain(path);
    const quoted = read(path).includes(`'${title}'`) || read(path).includes(`"${title}"`);
    expect(quoted).toBe(true);
  },
);
