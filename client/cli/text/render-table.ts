/** Columns as wide as their widest cell, two spaces apart. Without a line of headers when `headers` is empty. */
export function renderTable(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const all = headers.length === 0 ? rows : [headers, ...rows];
  const widths: number[] = [];
  for (const row of all) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, Array.from(cell).length);
    }
  }
  return all.map((row) => {
    const cells = row.map((cell, index) => {
      return cell + ' '.repeat((widths[index] ?? 0) - Array.from(cell).length);
    });
    return cells.join('  ').trimEnd();
  });
}
