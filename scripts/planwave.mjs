#!/usr/bin/env node
import { handOver, readVersion } from './bootstrap/hand-over.mjs';

/**
 * Commands that run a part of planwave until Ctrl-C. In a checkout they are scripts of npm too, which call this file.
 *
 * @type {Readonly<Record<string, string | undefined>>}
 */
const parts = { dev: 'main-dev.ts', worker: 'main-worker.ts', rehearsal: 'main-rehearsal.ts' };

const args = process.argv.slice(2);
const part = args.includes('--help') ? undefined : parts[args[0] ?? ''];
// Needs no packages, so it answers at once, and also before they are installed.
if (args.length === 1 && args[0] === '--version') console.log(readVersion());
else if (part === undefined) await handOver('main-planwave.ts', args);
else await handOver(part, args.slice(1), { readsTypeScript: args[0] === 'worker' });
