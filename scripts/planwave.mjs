import { handOver } from './bootstrap/hand-over.mjs';

await handOver('main-planwave.ts');
