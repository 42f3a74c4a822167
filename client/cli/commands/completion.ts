import type { Command } from 'commander';
import { badInput } from '../cli-error.ts';
import type { CommandRunner } from '../command-runner.ts';

/** Words that may follow the words of a command, by these words joined with a blank; '' for none. */
type Words = ReadonlyMap<string, readonly string[]>;

/** Registers the command that prints a script for a shell. */
export function registerCompletion(command: Command, runner: CommandRunner): void {
  command.action(
    runner(async ({ deps }, shell: string) => {
      const { createProgram } = await import('./program.ts');
      // With all commands loaded: their options are words too.
      const program = await createProgram(null, deps);
      const write = shells[shell];
      if (write === undefined) {
        throw badInput(
          `There is no completion for "${shell}". Try: ${Object.keys(shells).join(', ')}`,
        );
      }
      const script = write(listWords(program));
      return { data: { shell, script }, lines: [script] };
    }),
  );
}

/** Commands of the package that are no commands of the client. */
const parts = ['dev', 'worker', 'rehearsal'];

function listWords(command: Command, path: readonly string[] = []): Words {
  const options = command.options.flatMap(({ long }) => (typeof long === 'string' ? [long] : []));
  const names = command.commands.map((inner) => inner.name());
  const own = [...names, ...(path.length === 0 ? parts : []), ...options, '--help'];
  return new Map([
    [path.join(' '), own],
    ...command.commands.flatMap((inner) => [...listWords(inner, [...path, inner.name()])]),
  ]);
}

const shells: Readonly<Record<string, ((words: Words) => string) | undefined>> = {
  bash: writeBash,
  zsh: (words) => `autoload -U +X bashcompinit && bashcompinit\n${writeBash(words)}`,
  fish: writeFish,
};

/** Writes a function that finds the longest known command before the cursor and offers its words. */
function writeBash(words: Words): string {
  const cases = [...words]
    .filter(([path]) => path !== '')
    .map(([path, own]) => `    '${path}') words='${own.join(' ')}' ;;`);
  return [
    '# Completion of planwave. In bash: source <(npx planwave completion bash)',
    '_planwave() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" path="" words="" word at',
    `  words='${(words.get('') ?? []).join(' ')}'`,
    '  for ((at = 1; at < COMP_CWORD; at += 1)); do',
    '    word="${COMP_WORDS[at]}"',
    '    [[ "$word" == -* ]] && continue',
    '    case "${path:+$path }$word" in',
    ...[...words.keys()]
      .filter((path) => path !== '')
      .map((path) => `      '${path}') path='${path}' ;;`),
    '    esac',
    '  done',
    '  case "$path" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _planwave planwave',
  ].join('\n');
}

function writeFish(words: Words): string {
  const lines = [...words].flatMap(([path, own]) => {
    const seen = path.split(' ').filter((word) => word !== '');
    const condition =
      seen.length === 0
        ? '__fish_use_subcommand'
        : seen.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    return own.map((word) =>
      word.startsWith('--')
        ? `complete -c planwave -n '${condition}' -l ${word.slice(2)}`
        : `complete -c planwave -f -n '${condition}' -a ${word}`,
    );
  });
  return [
    '# Completion of planwave. In fish: npx planwave completion fish | source',
    ...lines,
  ].join('\n');
}
