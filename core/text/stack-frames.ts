/** Returns the places in the code of a stack trace, without the message, which may quote content and have several lines. */
export function framesOf(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => /^ {2,}at /.test(line))
    .join('\n');
}
