import { handOver } from './bootstrap/hand-over.mjs';

await handOver('main-worker.ts', undefined, { readsTypeScript: true });
