import { namespaceOf } from './dev-server/temporal-probe.ts';

/** Tells the user something while a command works; results and links go the same way. */
export function say(line: string): void {
  console.log(line);
}

/** The filter of the Web UI's list that shows runs and teams, and leaves out what they consist of. */
const runsQuery = 'WorkflowType IN ("plannerRun", "team")';

/** Renders the links as lines for the terminal. */
export function temporalLinks(uiUrl: string | undefined): string {
  if (uiUrl === undefined) return 'Web UI:     the one of the Temporal server in use';
  const list = `${uiUrl}/namespaces/${encodeURIComponent(namespaceOf())}/workflows`;
  return [
    `Web UI:     ${uiUrl}`,
    `Its runs:   ${list}?query=${encodeURIComponent(runsQuery)}`,
  ].join('\n');
}
