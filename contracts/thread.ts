import { z } from 'zod';

/** A delegation of an earlier run of a thread, as its leader gave it and as it ended. */
export const PastDelegation = z.strictObject({
  member_id: z.string(),
  title: z.string(),
  /** Cut. */
  task: z.string(),
  status: z.string(),
  /** The short form of what came of it, or why nothing did. Cut. */
  result: z.string(),
  /** Unix epoch seconds. */
  at: z.number(),
});
export type PastDelegation = z.infer<typeof PastDelegation>;

/** What a leader is told of its thread (seed 002, phase 3). All texts are data. */
export const ThreadHistory = z.strictObject({
  /** The newest, oldest first. */
  messages: z.array(
    z.strictObject({
      role: z.enum(['user', 'assistant']),
      /** Cut. */
      text: z.string(),
      /** Unix epoch seconds. */
      at: z.number(),
    }),
  ),
  /** Those that a full-text search found for the new message, the best first, then the newest; each once. */
  delegations: z.array(PastDelegation),
});
export type ThreadHistory = z.infer<typeof ThreadHistory>;
