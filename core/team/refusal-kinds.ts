/** Why a call of a leader is not carried out, for counting. The reason in words says it to the leader. */
export const refusalKinds = [
  /** It does not fit the tool. */
  'arguments',
  /** Nobody takes it: unknown, disabled, or resting after failures. */
  'member',
  /** Its name is that of another result. */
  'name',
  /** It names a result that there is not. */
  'input',
  /** It was given out before, here or in a team above. */
  'repeated',
  /** It and others of the reply need each other's results. */
  'cycle',
  'limit',
  /** It needs a call that was refused. */
  'needs',
] as const;

export type RefusalKind = (typeof refusalKinds)[number];
