// jest passes only the global object from set-up to teardown.
declare var stopSharedTestServer: (() => Promise<void>) | undefined;
