// jest hands nothing from set-up to teardown but the global object.
declare var stopSharedTestServer: (() => Promise<void>) | undefined;
