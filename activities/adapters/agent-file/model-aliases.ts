/** The short model names of Claude Code. */
const modelAliases = new Map<string, string | null>([
  ['inherit', null],
  ['fable', 'claude-fable-5-1'],
  ['opus', 'claude-opus-5-5'],
  ['sonnet', 'claude-sonnet-5-5'],
  ['haiku', 'claude-haiku-5-5'],
]);

/** @returns the model that a name stands for, the name itself when it is no short one; null: the default of the run. */
export function resolveModelName(name: string): string | null {
  return modelAliases.has(name) ? (modelAliases.get(name) ?? null) : name;
}
