/** Kinds of refusals of a leader's call, for counting. The leader reads the reason in words. */
export const refusalKinds = [
  /** The arguments do not fit the tool. */
  'arguments',
  /** No member takes it: unknown, disabled, or resting after failures. */
  'member',
  /** Its name belongs to another result. */
  'name',
  /** It names a result that does not exist. */
  'input',
  /** The same task was created before, here or in a team above. */
  'repeated',
  /** It and others of the reply need each other's results. */
  'cycle',
  'limit',
  /** It needs a call that was refused. */
  'needs',
] as const;

export type RefusalKind = (typeof refusalKinds)[number];
