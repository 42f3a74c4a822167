import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Page } from 'playwright-core';
import { ensureChromium } from '../../scripts/bootstrap/test-programs.mjs';

const args = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** Milliseconds for whatever a page waits for: a bound for a hanging test, not a statement about speed. */
const patienceMs = 300_000;

export interface WebPage {
  readonly page: Page;
  close(): Promise<void>;
}

/** Opens a page of a headless Chromium with a profile of its own. */
export async function openWebPage(size: { width: number; height: number }): Promise<WebPage> {
  const profile = mkdtempSync(join(tmpdir(), 'planwave-chromium-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: toPath(await ensureChromium()),
    viewport: size,
    args,
  });
  browser.setDefaultTimeout(patienceMs);
  return {
    page: await browser.newPage(),
    async close() {
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** Finds the first file of that name on PATH: a browser is launched by its path alone. */
function toPath(command: string): string {
  if (isAbsolute(command)) return command;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const path = folders.map((folder) => join(folder, command)).find(isExecutable);
  if (path === undefined) throw new Error(`${command} is not on PATH.`);
  return path;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
