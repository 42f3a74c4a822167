import { createLogUpdate } from 'log-update';
import type { Writable } from 'node:stream';
import type { CliIo } from '../cli-io.ts';
import { safeJson, createPaint, cleanLine, cleanText, type Paint } from '../terminal-text.ts';
import { type FollowEvent, detectChanges } from './follow-event.ts';
import { formatEvent, shortName } from './format-event.ts';
import { renderTree } from './render-tree.ts';
import type { RunSnapshot } from './read-snapshot.ts';
import type { TeamEvent, TextEvent } from '../../team-event.ts';

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
      ...renderTree(snapshot, paint, io.columns?.()),
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

/** A line that is not full yet is shown when it has this many characters. */
const waitingCharactersMax = 160;

/** Prints events as they come. Lines of text have their writer before them, so that several may write at once. */
interface TeamPrinter {
  tell(event: TeamEvent): void;
}

export function createTeamPrinter(stdout: Writable, paint: Paint): TeamPrinter {
  /** Text of each call that is not a full line yet. */
  const unfinished = new Map<string, { event: TextEvent; text: string }>();
  const members = new Map<string, string>();

  const say = (lines: readonly string[]): void => {
    if (lines.length > 0) stdout.write(`${lines.join('\n')}\n`);
  };
  const prefix = ({ delegation_id, from, agent_id }: TextEvent): string => {
    const who = from === 'leader' ? 'leader' : (members.get(delegation_id) ?? agent_id);
    // A task is often called like who does it.
    const names = new Set([cleanLine(who), shortName(delegation_id)].filter(Boolean));
    const name = [...names].join(' ');
    return paint(from === 'leader' ? 'strong' : 'quiet', `${name} │`);
  };
  const write = (event: TextEvent): void => {
    const before = unfinished.get(event.call)?.text ?? '';
    const lines = `${event.gap ? `${before}\n[…] ` : before}${event.text}`.split('\n');
    const rest = lines.pop() ?? '';
    const isLong = rest.length > waitingCharactersMax;
    say([...lines, ...(isLong ? [rest] : [])].map((line) => `${prefix(event)} ${cleanText(line)}`));
    unfinished.set(event.call, { event, text: isLong ? '' : rest });
  };
  const finish = (isOf: (event: TextEvent) => boolean): void => {
    for (const [call, { event, text }] of unfinished) {
      if (!isOf(event)) continue;
      unfinished.delete(call);
      if (text.trim() !== '') say([`${prefix(event)} ${cleanText(text)}`]);
    }
  };

  return {
    tell(event) {
      if (event.type === 'text') {
        // Who begins another call has finished the one before.
        finish(({ call, delegation_id, agent_id }) => {
          const isSame = delegation_id === event.delegation_id && agent_id === event.agent_id;
          return isSame && call !== event.call && event.position === 0;
        });
        write(event);
        return;
      }
      if (event.type === 'delegation') members.set(event.delegation_id, event.member_id);
      const whose = 'delegation_id' in event ? event.delegation_id : null;
      finish(({ delegation_id }) => whose === null || delegation_id === whose);
      say(formatEvent(event, paint));
    },
  };
}
