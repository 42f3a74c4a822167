import { resolve } from 'node:path';

/** The model of agents that name none, when a real provider answers. */
const realModel = 'claude-sonnet-5-5';

/** The key that stands for the rehearsal model, which looks at none. */
const rehearsalKey = 'rehearsal';

/** What a worker needs to know of its surroundings. */
export interface WorkerSettings {
  /** `PLANWAVE_HOME` as an absolute path; default `.planning` in the current folder. */
  readonly home: string;
  readonly apiKey: string;
  /** If undefined, Anthropic's own server. */
  readonly baseUrl: string | undefined;
  /** `PLANWAVE_MODEL`, the model of agents that name none. */
  readonly defaultModel: string;
  /** The rehearsal model answers for every model, and nothing costs anything. */
  readonly isRehearsal: boolean;
}

/** A setting is missing or wrong; the message says which, and what to do. */
export class BadSettings extends Error {
  override readonly name = 'BadSettings';
}

/** @throws {BadSettings} without a key and without a server that may do without one. */
export function readWorkerSettings(env: NodeJS.ProcessEnv): WorkerSettings {
  const baseUrl = env['ANTHROPIC_BASE_URL'] || undefined;
  const apiKey = env['ANTHROPIC_API_KEY'] || (baseUrl === undefined ? undefined : 'none');
  if (apiKey === undefined) {
    throw new BadSettings(
      'No model: ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL are both empty.\n' +
        'Try: export ANTHROPIC_API_KEY=…, or `npm run rehearsal` and ANTHROPIC_BASE_URL=http://127.0.0.1:8787 ' +
        'with ANTHROPIC_API_KEY=rehearsal, or `npm run dev`, which starts everything.',
    );
  }
  const isRehearsal = apiKey === rehearsalKey;
  return {
    home: resolve(env['PLANWAVE_HOME'] || '.planning'),
    apiKey,
    baseUrl,
    defaultModel: env['PLANWAVE_MODEL'] || (isRehearsal ? 'rehearsal' : realModel),
    isRehearsal,
  };
}
