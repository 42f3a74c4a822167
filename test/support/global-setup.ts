import { startShared } from './shared-server.ts';

// eslint-disable-next-line import/no-default-export -- jest asks for it
export default async function globalSetup(): Promise<void> {
  globalThis.stopSharedTestServer = await startShared();
}
