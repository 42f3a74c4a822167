// eslint-disable-next-line import/no-default-export -- jest asks for it
export default async function globalTeardown(): Promise<void> {
  await globalThis.stopSharedTestServer?.();
}
