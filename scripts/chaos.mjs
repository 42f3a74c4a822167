import { handOver } from './bootstrap/hand-over.mjs';

await handOver('../test/chaos/main-chaos.ts', process.argv.slice(2), { dev: true });
