import { handOver, readVersion } from './bootstrap/hand-over.mjs';

const args = process.argv.slice(2);
// Needs no packages, so it answers at once, and also before they are installed.
if (args.length === 1 && args[0] === '--version') console.log(readVersion());
else await handOver('main-planwave.ts', args);
