/** Command of a fenced block on one line, without its prompt and without an explanation behind it. */
export interface DocumentedCommand {
  readonly page: string;
  /** Line on which its block begins. */
  readonly line: number;
  /** `planwave …` and `temporal …` for all spellings that start them. */
  readonly text: string;
}

const languages = new Set(['', 'sh', 'sh background', 'console', 'bash']);
const isCommand = /^(?:[A-Z_]+=\S+ )*(?:npm|npx|planwave|temporal) /;

/** Lists the commands of npm, planwave and the Temporal CLI in the fenced blocks of a page. */
export function listCommands(page: string, markdown: string): DocumentedCommand[] {
  const blocks = markdown.matchAll(/^( *)```([^\n`]*)\n([^]*?)^\1```/gm);
  return [...blocks].flatMap(({ index, 2: language = '', 3: block = '' }) => {
    if (!languages.has(language.trim())) return [];
    const line = markdown.slice(0, index).split('\n').length;
    const texts = joinLines(block).flatMap(splitCommands).map(nameProgram);
    return texts.filter((text) => isCommand.test(text)).map((text) => ({ page, line, text }));
  });
}

/** Joins the lines of one command: after a backslash, and within single quotes. */
function joinLines(text: string): string[] {
  const lines: string[] = [];
  let open = '';
  for (const line of text.replaceAll(/\\\n\s*/g, '').split('\n')) {
    open = open === '' ? line.trim().replace(/^\$ /, '') : `${open} ${line.trim()}`;
    if (/ '/.test(open) && open.split("'").length % 2 === 0) continue;
    lines.push(open);
    open = '';
  }
  return lines;
}

/** Splits `a && b`, and removes a comment, or an explanation that stands apart by three spaces. */
function splitCommands(line: string): string[] {
  const bare = line.replace(/\s+#\s.*$/, '').replace(/\s{3,}(?!['"-]).*$/, '');
  return /['"]/.test(bare) ? [bare] : bare.split(' && ');
}

function nameProgram(text: string): string {
  return text
    .replace(/^npm run (?:--silent )?planwave -- |^npx planwave /, 'planwave ')
    .replace(/^planwave temporal /, 'temporal ');
}

/** Splits a command into words as a shell does, as far as the documents use it. */
export function splitWords(text: string): string[] {
  return (text.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
}
