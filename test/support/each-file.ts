import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';

// The SDK's workflow modules take it from the global object, where a workflow's sandbox has it.
Object.assign(globalThis, { AsyncLocalStorage });

// Files share a process: none of them leaves its environment variables behind.
const before = { ...process.env };
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

// Modules stay loaded for the next file. A file that replaces some needs those that import them anew, and so does the next one.
const { testPath = '' } = expect.getState();
if (/\bvi\.mock\(/.test(readFileSync(testPath, 'utf8'))) {
  vi.resetModules();
  afterAll(() => void vi.resetModules());
}

// After the reset, so that the file's modules have the same one.
const { endFile, endTest } = await import('./cleanup.ts');
afterEach(endTest);
afterAll(endFile);
