/**
 * Loaded into a worker process before its own code: a rename onto a file whose name begins with `before-` or `after-`
 * never returns, before or after the file is in its place, so that a test can kill the worker there. Each is one line
 * of the file `STALL_LOG`. With `STALL=off` they return, but are still counted.
 */
import { appendFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

const { STALL, STALL_LOG } = process.env;
const rename = promises.rename.bind(promises);
const never = () => new Promise(() => {});

promises.rename = async (from, to) => {
  const [, when] = /^(before|after)-/.exec(basename(to)) ?? [];
  if (when === undefined) return rename(from, to);
  const stalls = STALL !== 'off';
  if (stalls && when === 'before') {
    appendFileSync(STALL_LOG, `${basename(to)}: stalled\n`);
    return never();
  }
  await rename(from, to);
  appendFileSync(STALL_LOG, `${basename(to)}: renamed\n`);
  if (stalls) return never();
};
syncBuiltinESMExports();
