import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Command } from 'commander';
import { entryPoints } from '../../../core/text/entry-points.ts';
import { listNames } from '../../../core/text/list-names.ts';
import { messageOf } from '../../../core/text/message-of.ts';
import { badInput } from '../cli-error.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { cleanLine } from '../terminal-text.ts';
import { commandText, quoteWord } from '../../../core/text/format.ts';

const agent = `---
name: stock-keeper
description: Knows how many pieces of each article are in stock, from the tool read_stock. Not for prices.
capabilities: [stock]
tools: read_stock, load_detail
risk_level: low
---

# Role: stock-keeper

You answer questions about the stock.

## How you work

1. Call read_stock for each article that the task names.
2. Quote the numbers as the tool gave them.

## Your result

- detailed_md: each article with its number and what follows from it.
- compact_md: the articles that run out, in one sentence.
`;

const tools = `const stock = { 'A-17': 12, 'B-4': 0 };

export const tools = ({ defineTool, z }) => [
  defineTool({
    name: 'read_stock',
    description: 'Reads how many pieces of an article are in stock. Example: {"article":"A-17"}',
    schema: z.strictObject({ article: z.string() }),
    effect: 'read',
    brings: ['private_data'],
    run({ article }) {
      const pieces = stock[article];
      if (pieces === undefined) throw new Error(\`no article \${article}. Try: \${Object.keys(stock).join(', ')}\`);
      return \`\${article}: \${pieces} pieces\`;
    },
  }),
];
`;

const toolsTest = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tools } from './tools.mjs';

// The schema is not used here, so any object stands for zod.
const anything = new Proxy(() => anything, { get: () => anything });
const [readStock] = tools({ defineTool: (tool) => tool, z: anything });

test('read_stock names the pieces, and what to try for an unknown article', () => {
  assert.equal(readStock.run({ article: 'A-17' }), 'A-17: 12 pieces');
  assert.throws(() => readStock.run({ article: 'C' }), /Try: A-17, B-4/);
});
`;

/** Paths are whole: npm starts the parts of a checkout in its own folder. */
const settings = `# Settings of worker and client. Load them with: set -a; . ./planwave.env; set +a
# Load it in this folder, and keep it out of the repository once it holds a key.

# Without a key, the rehearsal model answers by fixed rules.
# ANTHROPIC_API_KEY=
# PLANWAVE_MODEL=claude-sonnet-5-5

PLANWAVE_TOOLS="$PWD/tools.mjs"
PLANWAVE_MCP="$PWD/.mcp.json"
# PLANWAVE_HOME=.planning
# PLANWAVE_WORKSPACES=.
`;

/** Files of a starter folder, by name. */
const files: Readonly<Record<string, string>> = {
  'agents/stock-keeper.md': agent,
  'tools.mjs': tools,
  'tools.test.mjs': toolsTest,
  'planwave.env': settings,
  '.mcp.json': '{\n  "mcpServers": {}\n}\n',
};

/** Registers the command that writes a starter folder. It asks no server and overwrites nothing. */
export function registerInit(command: Command, runner: CommandRunner): void {
  command.action(runner(init));
}

async function writeFiles(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    // oxlint-disable-next-line no-await-in-loop
    await mkdir(dirname(join(folder, name)), { recursive: true });
    // oxlint-disable-next-line no-await-in-loop
    await writeFile(join(folder, name), text, { flag: 'wx' });
  }
}

async function init({ deps }: CommandContext, typed: string | undefined): Promise<CommandResult> {
  const folder = resolve(deps.cwd, typed ?? '.');
  const taken = Object.keys(files).filter((name) => existsSync(join(folder, name)));
  if (taken.length > 0) {
    const cure = commandText('init', 'my-planwave');
    throw badInput(
      `${cleanLine(folder)} has ${listNames(taken)} already. Nothing was written. Try: an empty folder, as in ${cure}`,
    );
  }
  try {
    await writeFiles(folder);
  } catch (error) {
    throw badInput(
      `${cleanLine(folder)} can't be written: ${messageOf(error)}. Try: a folder of yours`,
    );
  }
  const fromThere = (command: string): string => callFrom(folder, command, deps.checkout);
  const enter = typed === undefined ? [] : [`  cd ${quoteWord(typed)}`];
  return {
    data: { folder, files: Object.keys(files) },
    lines: [
      `Wrote ${listNames(Object.keys(files))} to ${cleanLine(folder)}.`,
      'Next:',
      ...enter,
      '  node --test',
      '  set -a; . ./planwave.env; set +a',
      `  ${fromThere(entryPoints.dev)}`,
      'and in another terminal, in the same folder:',
      `  ${fromThere(commandText('start', 'Say which articles run out', '--agents', './agents', '--watch'))}`,
    ],
  };
}

/** Returns a command as a folder can call it: outside of a checkout, npm has to be told where the checkout is. */
function callFrom(folder: string, command: string, checkout: string | undefined): string {
  if (checkout === undefined) return command;
  const path = relative(checkout, folder);
  const isInside = path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
  return isInside ? command : command.replace(/^npm /, `npm --prefix ${quoteWord(checkout)} `);
}
