import { describeStuck } from '../../stuck-workflows.ts';
import type { CliSession } from '../cli-session.ts';
import type { DoctorFinding } from '../doctor-check.ts';

/** Whether there are runs that no worker can carry on. */
export async function checkStuck({ client }: CliSession): Promise<DoctorFinding> {
  const stuck = await client.stuck();
  const [first] = stuck;
  if (first === undefined) return { ok: true, detail: 'none: the workers can carry on every run' };
  const runs = [...new Set(stuck.map(({ run_id }) => run_id))];
  const [what = '', cure] = describeStuck(first).split('. Try: ');
  return { ok: false, detail: `${runs.join(', ')}. ${what}`, cure };
}
