import { handOver } from './bootstrap/hand-over.mjs';

if (process.argv.includes('--help')) {
  console.log(`Usage: npm run temporal [-- options]

Starts the embedded Temporal server alone, until Ctrl-C. Options go to \`temporal server start-dev\`; all of them:
  npm run planwave -- temporal server start-dev --help`);
  process.exit(0);
}

await handOver('main-temporal.ts');
