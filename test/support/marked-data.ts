const data =
  /<data marker="(?<marker>[0-9a-f]+)"(?<told>[^>]*)>\n(?<text>[^]*?)\n<\/data marker="\k<marker>">/gu;

export interface MarkedData {
  readonly marker: string;
  /** Text between the marks. */
  readonly text: string;
  /** Number of removed invisible characters according to the first mark. */
  readonly removed: number;
}

/** Returns every data block of a prompt or a tool result, in its order. */
export function markedData(prompt: string): MarkedData[] {
  return [...prompt.matchAll(data)].map(({ groups }) => ({
    marker: groups?.['marker'] ?? '',
    text: groups?.['text'] ?? '',
    removed: Number(/"(\d+)"/.exec(groups?.['told'] ?? '')?.[1] ?? 0),
  }));
}

/** Returns the text of a tool result. Throws when it is not between marks from its beginning to its end. */
export function unmarked(result: string): string {
  const [first] = markedData(result);
  if (
    first === undefined ||
    !result.startsWith('<data ') ||
    !result.endsWith(`="${first.marker}">`)
  ) {
    throw new Error(`No data block: ${result.slice(0, 200)}`);
  }
  return first.text;
}
