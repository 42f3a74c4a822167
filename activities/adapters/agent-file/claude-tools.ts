/**
 * Tools of Claude Code by name, each with the tools that do the same here. An empty list: there is none, and the agent
 * goes without it.
 */
const claudeTools: ReadonlyMap<string, readonly string[]> = new Map([
  ['Read', ['read_file', 'list_files']],
  ['Grep', ['search_files']],
  ['Glob', ['list_files']],
  ['LS', ['list_files']],
  ['Edit', ['edit_file']],
  ['MultiEdit', ['edit_file']],
  ['Write', ['write_file']],
  ['Bash', ['run_command']],
  ['Agent', []],
  ['AskUserQuestion', []],
  ['NotebookEdit', []],
  ['Skill', []],
  ['Task', []],
  ['TodoWrite', []],
  ['WebFetch', []],
  ['WebSearch', []],
]);

export interface TranslatedTools {
  readonly tools: readonly string[];
  /** Tools of Claude Code that have no counterpart on this worker. */
  readonly leftOut: readonly string[];
}

/** @param known Names of the tools that exist. If undefined, all of planwave's. */
export function translateTools(
  names: readonly string[],
  known: readonly string[] | undefined,
): TranslatedTools {
  const leftOut: string[] = [];
  const tools = names.flatMap((name) => {
    const counterparts = claudeTools.get(name) ?? (name.startsWith('mcp__') ? [] : undefined);
    if (counterparts === undefined) return [name];
    const found = counterparts.filter((one) => known === undefined || known.includes(one));
    if (found.length === 0) leftOut.push(name);
    return found;
  });
  return { tools: [...new Set(tools)], leftOut };
}
