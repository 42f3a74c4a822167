import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The next version of planwave: a copy of this checkout with a few changes, run by its own scripts. */
export interface ChangedCheckout {
  readonly root: string;
  remove(): void;
}

/** One text in one file, and what stands there instead. */
export interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const thisCheckout = fileURLToPath(new URL('../../..', import.meta.url));

const parts = [
  'agents',
  'contracts',
  'core',
  'redaction',
  'encryption',
  'workflows',
  'activities',
  'client',
  'rehearsal',
  'worker',
  'scripts',
  'package.json',
  'package-lock.json',
];

/** @throws when a text to change is not there exactly once. */
export function changeCheckout(changes: readonly Change[]): ChangedCheckout {
  const root = mkdtempSync(join(tmpdir(), 'planwave-checkout-'));
  for (const part of parts) cpSync(join(thisCheckout, part), join(root, part), { recursive: true });
  symlinkSync(join(thisCheckout, 'node_modules'), join(root, 'node_modules'), 'junction');
  for (const { file, from, to } of changes) {
    const path = join(root, file);
    writeFileSync(path, replaceOnce(readFileSync(path, 'utf8'), from, to));
  }
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** @throws when `from` is not there exactly once. */
export function replaceOnce(text: string, from: string, to: string): string {
  const pieces = text.split(from);
  if (pieces.length !== 2) throw new Error(`"${from}" is there ${pieces.length - 1} times.`);
  return pieces.join(to);
}

/** Says in every prompt of the researcher which edition it is. */
export const secondEdition = 'You work by the second edition of these rules.';

/** A step before the intake, so that no history of a run fits, and a prompt that tells the versions apart. */
export const nextVersion: readonly Change[] = [
  {
    file: 'workflows/planner-run/planner-run.workflow.ts',
    from: 'import { setHandler, workflowInfo,',
    to: 'import { sleep, setHandler, workflowInfo,',
  },
  {
    file: 'workflows/planner-run/planner-run.workflow.ts',
    from: '    const { taken_over = null } = await host.open(',
    to: '    await sleep(1);\n    const { taken_over = null } = await host.open(',
  },
  {
    file: 'agents/researcher.md',
    from: '# Role: researcher\n',
    to: `# Role: researcher\n\n${secondEdition}\n`,
  },
];

/** A text that Temporal shows and no history contains. */
export const otherText: Change = {
  file: 'workflows/shared/root-handlers.ts',
  from: "'Facts of the run, newest last.'",
  to: "'Facts of the run, the newest last.'",
};
