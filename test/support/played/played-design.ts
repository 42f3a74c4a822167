import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ContentReply, ScriptedRequest } from '../../../rehearsal/script.ts';

/** Design whose model and user were played by hand from the requests alone. */
export interface PlayedDesign {
  readonly goal: string;
  /** Answers of the user by question_id. */
  readonly answers: Readonly<Record<string, string>>;
  /** Places of the requests that the person misunderstood, and what they say now. */
  readonly misread: readonly {
    readonly stage: string;
    readonly read_as: string;
    readonly now: string;
  }[];
  /** Replies in their original order. The times of task_ids are replaced by `<time>`. */
  readonly replies: readonly DesignReply[];
}

interface DesignReply {
  readonly stage: string;
  /** Technology or agent_name of a stage that is asked for several times. */
  readonly subject?: string;
  readonly json: unknown;
}

/** @param name Its file in `design/`, without ".json". */
export function readPlayedDesign(name: string): PlayedDesign {
  const file = fileURLToPath(new URL(`design/${name}.json`, import.meta.url));
  const design: PlayedDesign = JSON.parse(readFileSync(file, 'utf8'));
  return design;
}

/**
 * Replies like the person who played the model, each reply once.
 *
 * @returns the function, and the stages whose replies are left. The function throws for a call without a reply.
 */
export function playDesign({ replies }: PlayedDesign): {
  readonly reply: (request: ScriptedRequest) => ContentReply;
  readonly left: () => readonly string[];
} {
  const left = [...replies];
  return {
    left: () => left.map(nameOf),
    reply({ body }) {
      const text = JSON.stringify(body).replaceAll('\\"', '"');
      const stage = /<request kind="design" stage="(\w+)">/u.exec(text)?.[1] ?? '';
      const subject = /<subject>"([^"]+)"<\/subject>/u.exec(text)?.[1];
      const wanted = nameOf({ stage, ...(subject !== undefined && { subject }) });
      const at = left.findIndex((one) => nameOf(one) === wanted);
      const [reply] = at < 0 ? [] : left.splice(at, 1);
      if (reply === undefined) throw new Error(`The design has no reply left for ${wanted}.`);
      return { json: withTimes(reply.json, text), thinkMs: 0 };
    },
  };
}

function nameOf({ stage, subject }: Pick<DesignReply, 'stage' | 'subject'>): string {
  return subject === undefined ? stage : `${stage} ${subject}`;
}

/** Completes the task_ids of a reply by those that its request shows. */
function withTimes(json: unknown, request: string): unknown {
  const completed = JSON.stringify(json).replaceAll(
    /"([a-z0-9_-]+)_<time>"/gu,
    (_whole, slug: string) => {
      const id = new RegExp(`"(${slug}_\\d{10})"`, 'u').exec(request)?.[1];
      if (id === undefined) throw new Error(`The request shows no task ${slug}.`);
      return JSON.stringify(id);
    },
  );
  return JSON.parse(completed);
}
