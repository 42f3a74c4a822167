import { AsyncLocalStorage } from 'node:async_hooks';

// The SDK's workflow modules take it from the global object, where a workflow's sandbox has it.
Object.assign(globalThis, { AsyncLocalStorage });

// Files of the fast tests share a process: none of them leaves its environment variables behind.
const before = { ...process.env };
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});
