import { handOver } from './bootstrap/hand-over.mjs';
import { splitStartArguments, startUsage } from './bootstrap/start-arguments.mjs';

if (process.argv.includes('--help')) {
  console.log(startUsage);
  process.exit(0);
}
// Asked before anything is installed, so that a forgotten goal costs no time.
if (splitStartArguments(process.argv.slice(2)).goal === '') {
  console.error(startUsage);
  process.exit(2);
}

await handOver('main-start.ts');
