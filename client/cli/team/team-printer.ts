import type { Writable } from 'node:stream';
import type { TeamEvent, TextEvent } from '../../team/team-event.ts';
import { cleanLine, cleanText } from '../terminal-text.ts';
import type { Paint } from '../terminal-text.ts';
import { formatTeamEvent, shortName } from './format-team-event.ts';

/** A line that is not full yet is shown when it has this many characters. */
const waitingCharactersMax = 160;

/** Prints events as they come. Lines of text have their writer before them, so that several may write at once. */
export interface TeamPrinter {
  tell(event: TeamEvent): void;
}

export function createTeamPrinter(stdout: Writable, paint: Paint): TeamPrinter {
  /** What each call has written of a line that is not full. */
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
      say(formatTeamEvent(event, paint));
    },
  };
}
