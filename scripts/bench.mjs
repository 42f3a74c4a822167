import { handOver } from './bootstrap/hand-over.mjs';

await handOver('../test/bench/main-bench.ts', process.argv.slice(2), { dev: true });
