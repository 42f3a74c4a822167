import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { figureOf } from '../chaos/programs/run-programs.ts';
import type { ProgramsResult } from '../chaos/programs/run-programs.ts';
import { renderProgramsPage } from '../chaos/report.ts';

const pathOf = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(pathOf(name), 'utf8');

/** The figure in README.md, or undefined when it states none. */
const stated = /[\d,]+ deaths in \d+ generated programs?, \d+ breach(?:es)?/u.exec(
  read('README.md').replaceAll(/\s+/gu, ' '),
)?.[0];

const file = 'docs/campaign.json';
const result: ProgramsResult | null = existsSync(pathOf(file)) ? JSON.parse(read(file)) : null;

it('README and docs/campaign.md say what the stored result says; without one, the README states no figure', () => {
  const page = result === null ? null : read('docs/campaign.md');
  expect([stated, page]).toEqual(
    result === null ? [undefined, null] : [figureOf(result), renderProgramsPage(result)],
  );
});
