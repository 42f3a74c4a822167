import { z } from 'zod';
import { PlanwaveClientError } from '../client-error.ts';

const count = z.number().int().min(0);

/** What was told of a team, so that nothing is told twice, whoever goes on. */
export const TeamCursor = z.strictObject({
  version: z.literal(1),
  /** By the delegation_id of its team. */
  leaders: z.record(
    z.string(),
    z.strictObject({ telling: z.string(), given: count, refused: count }),
  ),
  /** By delegation_id: how it was told last. */
  tasks: z.record(z.string(), z.string()),
  /** UTF-16 units that were told, by call. Only calls in flight. */
  texts: z.record(z.string(), count),
  /** question_ids that are open and were told. */
  questions: z.array(z.string()),
  /** Types of the last events that were told. */
  ending: z.array(z.enum(['error', 'answer', 'end'])),
});
export type TeamCursor = z.infer<typeof TeamCursor>;

export const emptyCursor: TeamCursor = {
  version: 1,
  leaders: {},
  tasks: {},
  texts: {},
  questions: [],
  ending: [],
};

export function writeCursor(cursor: TeamCursor): string {
  return JSON.stringify(cursor);
}

/** @throws PlanwaveClientError `bad_input` when it is no cursor of `streamTeam`. */
export function readCursor(text: string): TeamCursor {
  const parsed = TeamCursor.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new PlanwaveClientError(
    'bad_input',
    'The cursor is none that a stream of a team gave. Try: the `cursor` of an earlier stream as it was, or none.',
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
