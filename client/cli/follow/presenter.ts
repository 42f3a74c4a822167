import { createLogUpdate } from 'log-update';
import type { CliIo } from '../cli-io.ts';
import { safeJson, createPaint } from '../terminal-text.ts';
import type { FollowEvent } from './follow-event.ts';
import { formatEvent } from './format-event.ts';
import { detectChanges } from './detect-changes.ts';
import { renderTree } from './render-tree.ts';
import type { RunSnapshot } from './run-snapshot.ts';

/** Shows a run that changes. */
export interface Presenter {
  show(snapshot: RunSnapshot): void;
  /** Something that is told once and stays. */
  tell(event: FollowEvent): void;
  /** Leaves what is shown where it is, so that other output can follow. */
  release(): void;
}

export function createPresenter(
  io: CliIo,
  options: { readonly json: boolean; readonly asksItself: boolean },
): Presenter {
  if (options.json) return linePresenter((event) => [safeJson(event)], io);
  const paint = createPaint(io.colour);
  return io.isTerminal
    ? treePresenter(io, options.asksItself)
    : linePresenter((event) => formatEvent(event, paint), io);
}

/** One line for each change, and nothing when nothing changed. */
function linePresenter(format: (event: FollowEvent) => string[], io: CliIo): Presenter {
  let last: RunSnapshot | null = null;
  const tell = (event: FollowEvent): void => {
    io.stdout.write(`${format(event).join('\n')}\n`);
  };
  return {
    show: (snapshot) => {
      for (const event of detectChanges(last, snapshot)) tell(event);
      last = snapshot;
    },
    tell,
    release: () => {},
  };
}

/** Redraws a tree in place. */
function treePresenter(io: CliIo, asksItself: boolean): Presenter {
  const paint = createPaint(io.colour);
  const draw = createLogUpdate(io.stdout);
  let drawn: RunSnapshot | null = null;
  const lines = (snapshot: RunSnapshot): string[] => {
    const questions = asksItself ? [] : detectChanges(null, snapshot).filter(isQuestion);
    return [
      ...renderTree(snapshot, paint),
      ...questions.flatMap((event) => formatEvent(event, paint)),
    ];
  };
  return {
    show: (snapshot) => {
      drawn = snapshot;
      draw(lines(snapshot).join('\n'));
    },
    tell: (event) => {
      draw.clear();
      io.stdout.write(`${formatEvent(event, paint).join('\n')}\n`);
      if (drawn !== null) draw(lines(drawn).join('\n'));
    },
    release: () => {
      drawn = null;
      draw.done();
    },
  };
}

function isQuestion(event: FollowEvent): boolean {
  return event.type === 'question';
}
