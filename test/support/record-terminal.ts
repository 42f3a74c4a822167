import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Piece of output, with the milliseconds since the start. */
export interface Chunk {
  readonly atMs: number;
  readonly text: string;
}

export interface RecordOptions {
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Line that a person types after each time that this text was printed. */
  readonly typed: { readonly after: string; readonly line: string };
}

/** Runs a command line in a terminal of its own (`script` of util-linux), so that it asks and draws as for a person. */
export async function recordTerminal(
  command: string,
  { columns, rows, cwd, env, typed }: RecordOptions,
): Promise<{ readonly chunks: readonly Chunk[]; readonly code: number | null }> {
  const line = `stty cols ${columns} rows ${rows}; ${command}`;
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd,
    env: { ...env, TERM: 'xterm-256color', FORCE_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const chunks: Chunk[] = [];
  const start = Date.now();
  let [output, seen] = ['', 0];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    chunks.push({ atMs: Date.now() - start, text });
    output += text;
    const at = output.indexOf(typed.after, seen);
    if (at === -1) return;
    seen = at + typed.after.length;
    child.stdin.write(`${typed.line}\r`);
  });
  await once(child, 'close');
  return { chunks, code: child.exitCode };
}

/** Character with the style of its text: `bold`, a colour, or both. */
interface Cell {
  readonly character: string;
  readonly style: string;
}

/** Screen as far as planwave's output needs it: text, colours, and the moves of the cursor that redraw a tree. */
class Screen {
  private readonly columns: number;
  private readonly lines: Cell[][] = [[]];
  private row = 0;
  private column = 0;
  private style = '';

  constructor(columns: number) {
    this.columns = columns;
  }

  write(text: string): void {
    for (const [, parameters, command, character = ''] of text.matchAll(
      /\p{Cc}\[([?0-9;]*)([A-Za-z])|([^])/gu,
    )) {
      if (command === undefined) this.put(character);
      else this.obey(command, parameters ?? '');
    }
  }

  /** Returns the last rows, each as texts of one style. */
  rows(count: number): readonly (readonly { readonly text: string; readonly style: string }[])[] {
    return this.lines.slice(-count).map((cells) => {
      const runs: { text: string; style: string }[] = [];
      for (const cell of cells) {
        const { character, style } = cell ?? { character: ' ', style: '' };
        const last = runs.at(-1);
        if (last?.style === style) last.text += character;
        else runs.push({ text: character, style });
      }
      return runs;
    });
  }

  private put(character: string): void {
    // A full line ends at the next character, not before: after it, `\r\n` begins one new line and no second.
    if (character === '\n' || (character >= ' ' && this.column === this.columns)) {
      this.row += 1;
      this.lines[this.row] ??= [];
    }
    if (character === '\r' || this.column === this.columns) this.column = 0;
    if (character < ' ') return;
    const line = (this.lines[this.row] ??= []);
    while (line.length < this.column) line.push({ character: ' ', style: '' });
    line[this.column] = { character, style: this.style };
    this.column += 1;
  }

  private obey(command: string, parameters: string): void {
    const number = Number(parameters === '' ? '0' : parameters);
    if (command === 'm') this.style = styleOf(parameters, this.style);
    else if (command === 'A') this.row = Math.max(0, this.row - Math.max(1, number));
    else if (command === 'G') this.column = Math.max(1, number) - 1;
    else if (command === 'K' && number === 2) this.lines[this.row] = [];
    else if (command === 'K' || command === 'J') {
      this.lines[this.row]?.splice(this.column);
      if (command === 'J') this.lines.splice(this.row + 1);
    }
  }
}

const styles: Readonly<Record<string, string>> = {
  1: 'b',
  31: 'r',
  32: 'g',
  33: 'y',
  36: 'c',
  90: 'q',
  2: 'q',
};

/** Returns the style after codes such as `32` or `1;33`; a code that ends a colour ends all. */
function styleOf(codes: string, before: string): string {
  return codes.split(';').reduce((style, code) => {
    const named = styles[code];
    return named === undefined ? '' : `${style} ${named}`.trim();
  }, before);
}

/** Pause that a viewer needs to see that something happens, and the one on the last picture. */
const [pauseMsMax, endMs] = [1_500, 6_000];

/** Draws a recording as an SVG that plays by itself. Waits are cut; readers who want no motion see its end. */
export function drawRecording(chunks: readonly Chunk[], rows: number, columns: number): string {
  const { frames, endsAtMs } = takeFrames(chunks, rows, columns);
  const [width, height] = [columns * 8.4 + 32, rows * 18 + 56];
  const known = new Map<string, number>();
  const pictures = frames.map(({ lines }, index) => {
    const uses = lines.flatMap((line, row) => {
      if (line === '') return [];
      if (!known.has(line)) known.set(line, known.size);
      return [`<use href="#l${known.get(line)}" y="${row * 18}"/>`];
    });
    return `<g transform="translate(${index * width})">${uses.join('')}</g>`;
  });
  const steps = frames.map(
    ({ atMs }, index) =>
      `${((atMs / endsAtMs) * 100).toFixed(2)}%{transform:translateX(${-index * width}px)}`,
  );
  const lines = [...known].map(([line, id]) => `<text id="l${id}" x="16" y="50">${line}</text>`);
  const still = `transform:translateX(${-(frames.length - 1) * width}px)`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="npm start in a terminal">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d0d7de;white-space:pre}
.b{font-weight:bold;fill:#fff}.g{fill:#57ab5a}.r{fill:#f47067}.y{fill:#e0b252}.c{fill:#39c5cf}.q{fill:#8b949e}
.film{animation:film ${(endsAtMs / 1_000).toFixed(1)}s step-end infinite}
@keyframes film{${steps.join('')}100%{${still}}}
@media (prefers-reduced-motion:reduce){.film{animation:none;${still}}}
</style>
<defs>${lines.join('\n')}</defs>
<rect width="${width}" height="${height}" rx="8" fill="#161b22"/>
<circle cx="20" cy="18" r="6" fill="#f47067"/><circle cx="40" cy="18" r="6" fill="#e0b252"/><circle cx="60" cy="18" r="6" fill="#57ab5a"/>
<g class="film">${pictures.join('\n')}</g>
</svg>
`;
}

interface Frame {
  readonly atMs: number;
  readonly lines: readonly string[];
}

/** Takes a picture after each piece of output, and one for pieces that come within a tenth of a second. */
function takeFrames(
  chunks: readonly Chunk[],
  rows: number,
  columns: number,
): { frames: Frame[]; endsAtMs: number } {
  const screen = new Screen(columns);
  const frames: Frame[] = [];
  let atMs = 0;
  for (const [index, chunk] of chunks.entries()) {
    screen.write(chunk.text);
    const next = chunks[index + 1];
    const pauseMs = next === undefined ? endMs : Math.min(pauseMsMax, next.atMs - chunk.atMs);
    if (pauseMs < 100) continue;
    const lines = screen.rows(rows).map((line) => line.map(drawRun).join('').trimEnd());
    if (lines.join('\n') !== frames.at(-1)?.lines.join('\n')) frames.push({ atMs, lines });
    atMs += pauseMs;
  }
  return { frames, endsAtMs: atMs };
}

function drawRun({ text, style }: { readonly text: string; readonly style: string }): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return style === '' ? safe : `<tspan class="${style}">${safe}</tspan>`;
}
