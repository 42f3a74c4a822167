/**
 * Commands that call planwave in a checkout. The package calls itself otherwise: its build writes this file anew
 * (`scripts/build-package.mjs`).
 */
export const entryPoints = {
  /** The client; a command follows. */
  client: 'npm run planwave --',
  /** Brings everything up and runs one goal. */
  start: 'npm start',
  /** Server, model and worker, until Ctrl-C. */
  dev: 'npm run dev',
  worker: 'npm run worker',
  temporal: 'npm run temporal',
  rehearsal: 'npm run rehearsal',
};
