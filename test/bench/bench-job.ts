/**
 * The model server's job, written into the texts of a task. The server reads it from the prompt, so it needs
 * no script and no memory of its own: the same call has the same answer, whoever makes it.
 */
export interface BenchJob {
  /** The delegation's id; it names the criterion that the output meets. */
  readonly id: string;
  /** Model calls. The last one gives the output. */
  readonly turns: number;
  /** How the calls before the last one end. `question`: with an output that waits for an answer. `triad`: as its turns want it. */
  readonly by: (typeof endings)[number];
  /** Milliseconds until each reply. */
  readonly delayMs: number;
}

const endings = ['pause', 'tool', 'question', 'triad'] as const;

/** The delegation whose output the tool of the others loads. */
export const gatherId = 'gather';

export function writeJob({ id, turns, by, delayMs }: BenchJob): string {
  return `[bench id=${id} turns=${turns} by=${by} delay=${delayMs}]`;
}

const written = new RegExp(
  String.raw`\[bench id=([\w-]+) turns=(\d+) by=(${endings.join('|')}) delay=(\d+)\]`,
  'g',
);

/** Every job that a text holds, in its order. */
export function readJobs(text: string): BenchJob[] {
  return [...text.matchAll(written)].map(([, id = '', turns, by, delayMs]) => ({
    id,
    turns: Number(turns),
    by: endings.find((ending) => ending === by) ?? 'pause',
    delayMs: Number(delayMs),
  }));
}

const words =
  'plan risk cost owner scope budget vendor lease crew permit audit draft margin intake rollout staging metric target revise accept reject propose escalate verify ledger branch deploy monitor alert contract clause tenant region depot freight customs carrier invoice supply demand forecast capacity shift roster safety training supplier quality recall patch release window backlog'.split(
    ' ',
  );

/** A text of words that differs from seed to seed, so that nothing that compresses or deduplicates is flattered. */
export function composeText(seed: string, length: number): string {
  let state = 2_166_136_261;
  for (const character of seed) {
    state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 16_777_619);
  }
  let text = '';
  while (text.length < length) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    text += `${words[(state >>> 0) % words.length]} `;
  }
  return text.slice(0, length);
}
