/** JSON for people and scripts: indented, one line break at its end. */
export function renderJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** One JSON object a line. No entries are an empty file. */
export function renderJsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
