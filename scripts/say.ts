import { taskQueueOf } from '../client/connect.ts';
import { startedQuery, waitingQuery } from '../client/run-listing.ts';
import { namespaceOf } from './dev-server/temporal-probe.ts';

/** Prints a line for the user while a command works; results and links are printed the same way. */
export function say(line: string): void {
  console.log(line);
}

/** Returns how a command with these options says its lines: with `--json`, standard output is for the documents alone. */
export function sayBeside(options: readonly string[]): (line: string) => void {
  return options.includes('--json') ? (line) => console.error(line) : say;
}

/** Returns the address of the Web UI as a line for the terminal. */
export function webUiLine(uiUrl: string | undefined): string {
  return `Web UI:     ${uiUrl ?? 'none here; the Temporal server in use may have one'}`;
}

/** Returns the addresses of the Web UI as lines for the terminal: itself, its runs and the inbox. */
export function temporalLinks(uiUrl: string | undefined): string {
  if (uiUrl === undefined) return webUiLine(uiUrl);
  const queue = taskQueueOf(process.env);
  const list = `${uiUrl}/namespaces/${encodeURIComponent(namespaceOf())}/workflows`;
  return [
    webUiLine(uiUrl),
    `Its runs:   ${list}?query=${encodeURIComponent(startedQuery(queue))}`,
    `Your inbox: ${list}?query=${encodeURIComponent(waitingQuery())}`,
  ].join('\n');
}
