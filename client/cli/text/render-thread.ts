import type { KeptDelegation, ThreadEntry } from '../../../contracts/thread.ts';
import { cleanLine, cleanLines, cleanText } from './clean-text.ts';
import { formatTime } from './format-time.ts';
import type { Paint } from './paint.ts';

/** Entries of a thread as a person reads them, with an empty line between two. */
export function renderThread(entries: readonly ThreadEntry[], paint: Paint): string[] {
  return entries.flatMap((entry, at) => [...(at === 0 ? [] : ['']), ...renderEntry(entry, paint)]);
}

function renderEntry(entry: ThreadEntry, paint: Paint): string[] {
  const { at, run_id, delegation_id, user_id, message, answer, delegations } = entry;
  const user = user_id === null ? '' : ` · ${cleanLine(user_id)}`;
  const head = `${formatTime(at)} UTC · ${cleanLine(run_id)} ${cleanLine(delegation_id)}${user}`;
  return [
    paint('strong', head),
    ...renderPart('message', message, paint),
    ...(answer === null ? [paint('quiet', '  no answer')] : renderPart('answer', answer, paint)),
    ...delegations.flatMap((delegation) => renderDelegation(delegation, paint)),
  ];
}

function renderPart(name: string, text: string, paint: Paint): string[] {
  const lines = cleanText(text).trim().split('\n');
  return [paint('quiet', `  ${name}:`), ...lines.map((line) => `    ${line}`.trimEnd())];
}

function renderDelegation(delegation: KeptDelegation, paint: Paint): string[] {
  const { delegation_id, member_id, title, status, task, result } = delegation;
  const head = [delegation_id, member_id, title, status].map((word) => cleanLine(word)).join(' · ');
  return [
    `${paint('quiet', '  gave out:')} ${head}`,
    ...cleanLines(task).map((line) => `    ${line}`),
    ...(cleanLines(result).length === 0 ? [] : [paint('quiet', '    of it came:')]),
    ...cleanLines(result).map((line) => `      ${line}`),
  ];
}
