/** Prints a line for the user while a command works; results and links are printed the same way. */
export function say(line: string): void {
  console.log(line);
}
