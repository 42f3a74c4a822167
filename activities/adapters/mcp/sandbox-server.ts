import type { McpStdio } from '../../ports/mcp-servers.ts';
import { bindSystem, commandEnvironment, ownToolchain } from '../sandbox/bubblewrap.ts';

/** Program and arguments that start a server. */
interface ServerCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the call of `bwrap` for a server: no file but the system's programs, the worker's toolchain and the paths of its
 * entry, no process of the machine, and a network only if its entry has one. It ends with the worker.
 */
export function sandboxCall({ command, args, env, sandbox }: McpStdio): ServerCall {
  const { network = false, read = [], write = [] } = sandbox ?? {};
  const toolchains = ownToolchain();
  return {
    command: 'bwrap',
    args: [
      ...'--unshare-user --unshare-all --disable-userns --die-with-parent --new-session'.split(' '),
      ...(network ? ['--share-net', '--ro-bind-try', '/etc/resolv.conf', '/etc/resolv.conf'] : []),
      ...'--cap-drop ALL'.split(' '),
      ...bindSystem(),
      ...'--proc /proc --dev /dev --tmpfs /tmp --dir /tmp/home'.split(' '),
      ...[...toolchains, ...read].flatMap((path) => ['--ro-bind', path, path]),
      ...write.flatMap((path) => ['--bind', path, path]),
      '--chdir',
      '/tmp',
      '--',
      command,
      ...args,
    ],
    env: { ...commandEnvironment(toolchains, '/tmp/home'), ...env },
  };
}
