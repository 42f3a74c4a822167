import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DoctorFinding } from '../../client/cli/cli-deps.ts';
import { messageOf } from '../bootstrap/expected-error.mjs';

/** Least free space. With less, a long run may stop, because the server's database and the artifacts grow with it. */
const freeBytesMin = 1_000_000_000;

/** Checks that the artifact home can be written and has room. */
export async function checkHome(home: string): Promise<DoctorFinding> {
  const probe = join(home, `.doctor-${process.pid}`);
  try {
    await mkdir(home, { recursive: true });
    await writeFile(probe, 'written by planwave doctor\n');
    await rm(probe);
  } catch (error) {
    return {
      ok: false,
      detail: `${home} can't be written: ${messageOf(error)}`,
      cure: 'mend its permissions, or set PLANWAVE_HOME to another folder',
    };
  }
  const { bavail, bsize } = await statfs(home);
  const freeBytes = bavail * bsize;
  const detail = `${home} can be written, ${(freeBytes / 1e9).toFixed(1)} GB free`;
  if (freeBytes >= freeBytesMin) return { ok: true, detail };
  return { ok: false, detail, cure: 'free some disk space, or set PLANWAVE_HOME to another disk' };
}
