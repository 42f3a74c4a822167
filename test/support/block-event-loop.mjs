/**
 * Loaded into a worker process before its own code: at SIGUSR2 its event loop is blocked for `BLOCK_EVENT_LOOP_MS`, as
 * by an endless computation. Waiting instead of computing leaves the processor to the other tests.
 */
const blockMs = Number(process.env.BLOCK_EVENT_LOOP_MS);

process.on('SIGUSR2', () => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
});
