/** Where a text stops being JSON. Lines and columns count from 1. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
}

const blank = /[ \t\r\n]*/y;
// A backslash and a control character can't stand unescaped in a string.
const text = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/uy;
const plain = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The first character that can't stand where it stands; null when the text is JSON. `JSON.parse` does not tell it. */
export function findJsonFault(json: string): JsonFault | null {
  let at = 0;
  const take = (token: RegExp): boolean => {
    token.lastIndex = at;
    const [found] = token.exec(json) ?? [];
    at += found?.length ?? 0;
    return found !== undefined;
  };
  const takeMark = (mark: string): boolean => {
    take(blank);
    if (json[at] !== mark) return false;
    at += 1;
    return true;
  };
  const takeValue = (): boolean => {
    if (takeMark('{')) return takeList('}', takeEntry);
    if (takeMark('[')) return takeList(']', takeValue);
    return take(text) || take(plain);
  };
  const takeEntry = (): boolean => {
    take(blank);
    return take(text) && takeMark(':') && takeValue();
  };
  const takeList = (end: string, takeItem: () => boolean): boolean => {
    if (takeMark(end)) return true;
    do {
      if (!takeItem()) return false;
    } while (takeMark(','));
    return takeMark(end);
  };
  const isValue = takeValue();
  take(blank);
  if (isValue && at === json.length) return null;
  const before = json.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
