import { namespaceOf } from './dev-server/temporal-probe.ts';

/** Prints a line for the user while a command works; results and links are printed the same way. */
export function say(line: string): void {
  console.log(line);
}

/** Filter for the Web UI's list: shows runs and teams without their parts. */
const runsQuery = 'WorkflowType IN ("plannerRun", "team")';

/** Returns the addresses of the Web UI as lines for the terminal. */
export function temporalLinks(uiUrl: string | undefined): string {
  if (uiUrl === undefined) return 'Web UI:     none here; the Temporal server in use may have one';
  const list = `${uiUrl}/namespaces/${encodeURIComponent(namespaceOf())}/workflows`;
  return [
    `Web UI:     ${uiUrl}`,
    `Its runs:   ${list}?query=${encodeURIComponent(runsQuery)}`,
  ].join('\n');
}
