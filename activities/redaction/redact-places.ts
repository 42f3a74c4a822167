import type { CommandEnd, CommandRunner } from '../ports/command-runner.ts';
import type { PageFetcher } from '../ports/page-fetcher.ts';
import type { Redactor } from '../ports/redactor.ts';
import type { RunChanges } from '../ports/run-changes.ts';
import type { Worktrees } from '../ports/worktrees.ts';

/*
 * Places of agents, wrapped so that what is shown of them holds no secret. It is redacted here, as a whole: tools and
 * checks number its lines and cut it, and half a secret is not known for one. Workspaces redact what they read by
 * themselves, because they hold no file as a whole.
 */

/** Most characters of a word that was cut off: no secret is longer, however it is spelled. */
const wordCharsMax = 60_000;

/** Wraps a runner so that the output of commands holds no secret. */
export function redactRunner(runner: CommandRunner, redactor: Redactor): CommandRunner {
  const redact = (text: string): string => redactor.redactAsWritten(text, 'tool');
  return {
    confined: runner.confined,
    async run({ onTail, ...command }, signal) {
      const onRedacted =
        onTail &&
        ((read: () => string): void => onTail(() => redact(leaveUnfinished(read(), redactor))));
      const end = await runner.run({ ...command, onTail: onRedacted }, signal);
      return { ...end, output: redact(keepWhole(end, redactor)) };
    },
    endLeftovers: (folder) => runner.endLeftovers(folder),
  };
}

/**
 * Leaves out the end of an output that may be half a secret, and says so. What was printed before a kill ends where the
 * program wrote no more; only one that was cut at its limit can end anywhere.
 */
function keepWhole({ ending, output }: CommandEnd, redactor: Redactor): string {
  if (ending === 'exited') return output;
  const whole =
    ending === 'output'
      ? leaveUnfinished(output, redactor)
      : output.slice(0, redactor.findOpen(output));
  return whole === output ? output : `${whole}\n[The end is left out: a secret may begin there.]`;
}

/** Leaves out the last word of a text that is not at its end: it may be half a secret. */
export function leaveUnfinished(text: string, redactor: Redactor): string {
  const open = redactor.findOpen(text);
  const first = Math.max(0, text.length - wordCharsMax);
  let end = text.length;
  while (end > first && !/\s/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, Math.min(open, end));
}

/** Wraps worktrees so that their patches hold no secret. */
export function redactWorktrees(worktrees: Worktrees, redactor: Redactor): Worktrees {
  return {
    ...worktrees,
    async diff(place) {
      const patch = await worktrees.diff(place);
      return patch === null ? null : redactor.redactAsWritten(patch, 'tool');
    },
  };
}

/** Wraps the changes of runs so that their patches hold no secret. */
export function redactRunChanges(changes: RunChanges, redactor: Redactor): RunChanges {
  return {
    ...changes,
    async propose(run) {
      const proposed = await changes.propose(run);
      return (
        proposed && { ...proposed, patch: redactor.redactAsWritten(proposed.patch, 'artifact') }
      );
    },
  };
}

/** Wraps a fetcher so that pages hold no secret. They are split afterwards. */
export function redactPages(pages: PageFetcher, redactor: Redactor): PageFetcher {
  return {
    async fetch(url, signal) {
      const { text_md, ...page } = await pages.fetch(url, signal);
      const text = redactor.redactAsWritten(text_md, 'tool');
      return { ...redactor.redactValue(page, 'tool'), text_md: text };
    },
  };
}
