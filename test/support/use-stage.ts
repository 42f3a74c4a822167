import { startOwnServer } from './own-server.ts';
import type { OwnServer } from './own-server.ts';
import { openProcessStage } from './process-stage.ts';
import { sharedServer } from './shared-server.ts';
import { openStage } from './stage.ts';
import type { Stage, StageOptions } from './stage.ts';
import { killProcesses } from './worker-process.ts';

/** Timeout in milliseconds for a server, a worker and the rehearsal model to start on a busy machine. */
const openWithinMs = 90_000;

/** Options without the script: tests write their own. */
export interface StageUse extends Omit<StageOptions, 'address' | 'script'> {
  /** Arguments for a server of its own; may be empty. If undefined, the stage is on the shared server. */
  readonly serverArguments?: readonly string[];
}

/**
 * Provides one stage for all tests of a file, or of a `describe`. Each begins with an empty script and no calls.
 *
 * @returns an object that is empty until the tests run, so that a file can name it at its top.
 */
export function useStage(use: StageUse = {}): { readonly stage: Stage } {
  const { stage, open, close } = prepareStage(useServer(use), use, openStage);
  beforeAll(open, openWithinMs);
  beforeEach(() => stage.rehearsal.reset());
  afterAll(close);
  return { stage };
}

/**
 * Works like `useStage`, but provides a stage for each test, whose workers are processes. Processes that a test leaves
 * running are killed. A server of its own is one for all tests: each ends its runs.
 */
export function useProcessStages(use: StageUse = {}): { readonly stage: Stage } {
  const { stage, open, close } = prepareStage(useServer(use), use, openProcessStage);
  beforeEach(open, openWithinMs);
  afterEach(close);
  return { stage };
}

/**
 * Provides a server that the tests of a file may harm, and a stage on it whose workers are processes. Tests may build
 * on one another: nothing is reset between them.
 *
 * @param serverArguments default: none.
 */
export function useOwnServer(
  serverArguments: readonly string[] = [],
  options: Omit<StageUse, 'serverArguments'> = {},
): { readonly server: OwnServer; readonly stage: Stage } {
  const server = useServer({ serverArguments });
  const { stage, open, close } = prepareStage(server, options, openProcessStage);
  beforeAll(open, openWithinMs);
  afterAll(close);
  return { server, stage };
}

/** Provides the server of all tests of a file, or of a `describe`. Of the shared one it has the addresses only. */
function useServer({ serverArguments }: Pick<StageUse, 'serverArguments'>): OwnServer {
  const server: OwnServer = Object.create(null);
  beforeAll(async () => {
    if (serverArguments === undefined) {
      Object.assign(server, sharedServer());
      return undefined;
    }
    const own = await startOwnServer(serverArguments);
    Object.assign(server, own);
    // Called after every `afterAll`: what is on the server is closed by then.
    return () => own.stop();
  }, openWithinMs);
  return server;
}

interface PreparedStage {
  readonly stage: Stage;
  readonly open: () => Promise<void>;
  /** Closes what was opened, however far the opening got. */
  readonly close: () => Promise<void>;
}

function prepareStage(
  server: OwnServer,
  options: Omit<StageUse, 'serverArguments'>,
  openOn: (options: StageOptions) => Promise<Stage>,
): PreparedStage {
  const stage: Stage = Object.create(null);
  const undo: (() => Promise<void>)[] = [];
  return {
    stage,
    async open() {
      Object.assign(stage, await openOn({ ...options, address: server.address }));
      undo.push(() => stage.close(), killProcesses);
    },
    async close() {
      for (const step of undo.splice(0).toReversed()) await step();
    },
  };
}
