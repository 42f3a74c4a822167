import { namespaceOf } from './dev-server/temporal-probe.ts';

/** The filter of the Web UI's list that shows runs and teams, and leaves out what they consist of. */
const runsQuery = 'WorkflowType IN ("plannerRun", "team")';

/** Where to look, as lines for the terminal. */
export function temporalLinks(uiUrl: string | undefined): string {
  if (uiUrl === undefined) return 'Web UI:     the one of the Temporal server in use';
  const list = `${uiUrl}/namespaces/${encodeURIComponent(namespaceOf())}/workflows`;
  return [
    `Web UI:     ${uiUrl}`,
    `Its runs:   ${list}?query=${encodeURIComponent(runsQuery)}`,
  ].join('\n');
}
