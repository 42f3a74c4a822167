import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the file of an agent that may call `write_file`. An existing one of the same name is replaced.
 *
 * @param risk its `risk_level`. If undefined: the file names none.
 * @returns the folder, for `agents_dir`: the same for all agents of a home.
 */
export function provideWritingAgent(home: string, name: string, risk?: 'low' | 'high'): string {
  const folder = join(home, 'agents-that-write');
  mkdirSync(folder, { recursive: true });
  const riskLine = risk === undefined ? '' : `risk_level: ${risk}\n`;
  writeFileSync(
    join(folder, `${name}.md`),
    `---\nname: ${name}\ndescription: Writes files.\ntools: write_file\n${riskLine}---\n\nYou write files.\n`,
  );
  return folder;
}
