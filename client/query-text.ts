/** A text as it stands in a visibility query, such as the one of `temporal workflow list --query`. */
export function queryText(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
