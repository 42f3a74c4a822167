import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  badSettingsExitCode,
  ExpectedError,
  messageOf,
} from '../../scripts/bootstrap/expected-error.mjs';
import type { Figure } from './figure.ts';
import type { PeersPlace } from './peers/peer-messages.ts';

export interface BenchOptions {
  readonly help: boolean;
  /** Prints the report as JSON instead of a table. */
  readonly json: boolean;
  /** Figures to measure, in the order of the report. */
  readonly figures: readonly Figure[];
  readonly rounds: number;
  readonly trial: boolean;
  /** Where other engines are found; null: nowhere. */
  readonly peers: PeersPlace | null;
  /** Whether docs/benchmark.md gets the figures: when all of them were measured in full, unless `--no-write` is given. */
  readonly write: boolean;
}

/** Enough for a median that comes back, and twenty seconds of the quick figures. */
const roundsDefault = 20;

const postgresDefault = 'postgresql://postgres@127.0.0.1:5432/postgres';

/** @throws {ExpectedError} on an unknown option or figure, rounds that are no whole number from 1, or no such folder. */
export function readBenchOptions(args: readonly string[], all: readonly Figure[]): BenchOptions {
  const values = parse(args);
  const figures = values.only === undefined ? all : chooseFigures(values.only, all);
  const trial = values.trial ?? false;
  const rounds = Number(values.rounds ?? (trial ? 1 : roundsDefault));
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw refusal(
      `--rounds ${values.rounds} is no whole number from 1. Try: --rounds ${roundsDefault}`,
    );
  }
  return {
    help: values.help ?? false,
    json: values.json ?? false,
    figures,
    rounds,
    trial,
    peers: readPeersPlace(values.peers, values.postgres),
    write: figures.length === all.length && !trial && values['no-write'] !== true,
  };
}

export function benchUsage(all: readonly Figure[]): string {
  const width = Math.max(...all.map(({ name }) => name.length));
  return [
    'Usage: npm run bench [-- options]',
    '',
    'Measures planwave beside a plain loop in memory on the same model server, and writes docs/benchmark.md.',
    '',
    '  --only <names>   only these figures, with commas between them; docs/benchmark.md stays as it is',
    `  --rounds <n>     rounds of a quick measurement, default ${roundsDefault}; longer ones take a share of them`,
    '  --trial          a twentieth of every size and one round: shows that all works, measures nothing',
    '  --peers <folder> where the packages of other engines are, to measure triads beside them (docs/benchmark.md)',
    `  --postgres <url> the PostgreSQL server for them, default ${postgresDefault}`,
    '  --json           print JSON',
    '  --no-write       leave docs/benchmark.md as it is',
    '',
    'Figures:',
    ...all.map(({ name, about }) => `  ${name.padEnd(width)}   ${about}`),
  ].join('\n');
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean' },
        json: { type: 'boolean' },
        only: { type: 'string' },
        rounds: { type: 'string' },
        trial: { type: 'boolean' },
        peers: { type: 'string' },
        postgres: { type: 'string' },
        'no-write': { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw refusal(`${messageOf(error)}\nTry: npm run bench -- --help`);
  }
}

function readPeersPlace(
  folder: string | undefined,
  postgresUrl: string = postgresDefault,
): PeersPlace | null {
  if (folder === undefined) return null;
  if (!existsSync(folder)) {
    throw refusal(
      `There is no folder ${folder}. Try: --peers with the folder that has node_modules`,
    );
  }
  if (!URL.canParse(postgresUrl)) {
    throw refusal(`--postgres ${postgresUrl} is no address. Try: --postgres ${postgresDefault}`);
  }
  return { folder: resolve(folder), postgresUrl };
}

function chooseFigures(names: string, all: readonly Figure[]): readonly Figure[] {
  const wanted = names.split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !all.some((figure) => figure.name === name));
  if (unknown.length === 0) return all.filter(({ name }) => wanted.includes(name));
  const known = all.map(({ name }) => name).join(', ');
  throw refusal(`There is no figure "${unknown.join('", "')}". Figures: ${known}`);
}

function refusal(message: string): ExpectedError {
  return new ExpectedError(message, badSettingsExitCode);
}
