import { startShared } from './shared-server.ts';

/** Starts what all test files of a project share. Resolves with what stops it. */
// eslint-disable-next-line import/no-default-export -- vitest asks for it
export default async function globalSetup(): Promise<() => Promise<void>> {
  return startShared();
}
