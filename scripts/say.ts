/** Tells the user something while a command works; results and links go the same way. */
export function say(line: string): void {
  console.log(line);
}
