import type { DoctorFinding } from '../../client/cli/cli-deps.ts';
import { loadMiddlewares, shippedNames } from '../../worker/load-middlewares.ts';
import { BadSettings, readMiddlewaresFile } from '../../worker/worker-settings.ts';

/** Checks that the module of `PLANWAVE_MIDDLEWARES` can be loaded, and lists its content. */
export async function checkMiddlewares(env: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  try {
    const file = readMiddlewaresFile(env);
    const own = (await loadMiddlewares(file)).map(({ name }) => name);
    const brought = file === undefined ? 'no PLANWAVE_MIDDLEWARES' : `${own.join(', ')} of ${file}`;
    return { ok: true, detail: `${shippedNames.join(', ')}; ${brought}` };
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    const [what = '', ...faults] = error.message.split('\n');
    return {
      ok: false,
      detail: [what, ...faults.filter((line) => line.startsWith('- '))].join(' '),
      cure: 'mend the module that it names (docs/middlewares.md)',
    };
  }
}
