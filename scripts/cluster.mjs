import { handOver } from './bootstrap/hand-over.mjs';

await handOver('../test/cluster/main-cluster.ts', process.argv.slice(2), { dev: true });
