import type { OpenRunInput } from '../../contracts/activity-types.ts';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import type { ForkOffer, ForkPoint } from '../../contracts/fork.ts';
import type { RunEntry, RunPage } from '../../contracts/run-page.ts';
import type { StoredResult } from '../../contracts/run-record.ts';
import type { CheckedHome, CopiedStores, Pruned, StoreIdentity } from '../../contracts/store.ts';
import type { TenantBudgets } from '../../contracts/budget.ts';
import type { StatusView } from '../../contracts/views.ts';
import type { KeyRing } from '../../encryption/key-ring.ts';
import type { ConnectOptions } from '../connect.ts';
import type { OpenHistory } from '../run-listing.ts';
import type { CliIo } from './cli-io.ts';
import type { CliSession, ClientTracing } from './cli-session.ts';
import type {
  EntryCounts,
  EntrySelection,
  ListedThreads,
  ReadThread,
} from '../../contracts/thread.ts';
import type { ComparedRun } from '../../core/run/fork-record.ts';

/** The part of the command line that help and version need too. */
interface CliShell {
  readonly io: CliIo;
  /** Version of planwave. If undefined: `unknown`. */
  readonly version?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The same before the dependencies of a command's work are loaded. */
export interface LazyCliDeps extends CliShell {
  /** Called once, when a command has been recognised. */
  readonly load: () => Promise<CliDeps>;
}

/** Dependencies of the command line, composed where the store and the tools are known. */
export interface CliDeps extends CliShell {
  /** Folder that relative paths on the command line start from. */
  readonly cwd: string;
  /** Folder of the checkout whose npm scripts call planwave. If undefined: the installed package calls itself. */
  readonly checkout?: string | undefined;
  /** Writes the readable files of a run again. */
  readonly exportRun: (runId: string) => Promise<ExportedRun>;
  /** Reads the stored result of the run, or null when there is none. */
  readonly readResult: (runId: string) => Promise<StoredResult | null>;
  /** Rejects when there is no such run. */
  readonly readComparedRun: (runId: string) => Promise<ComparedRun>;
  /** Reads what a fork of a run before a wave would take over. Rejects with a CliError when there can't be one. */
  readonly offerFork: (point: Pick<ForkPoint, 'run_id' | 'wave'>) => Promise<ForkOffer>;
  /** Reads stored bytes by their address. Rejects when there are none. If undefined: not available. */
  readonly readArtifact?: ((ref: string) => Promise<Uint8Array>) | undefined;
  /** Status of a run that the server has forgotten, from the store, or null. If undefined: not available. */
  readonly readStoredStatus?: ((runId: string) => Promise<StatusView | null>) | undefined;
  /** Identifies the store of this shell; null when no worker has opened it. If undefined: not known. */
  readonly findStore?: (() => Promise<StoreIdentity | null>) | undefined;
  /** Removes runs that ended before a time, Unix epoch seconds. `dryRun` only counts. */
  readonly prune: (options: {
    readonly endedBefore: number;
    readonly dryRun: boolean;
  }) => Promise<Pruned>;
  /** Reads everything in the store and looks for damage. `repair` and `removeOrphans` remove what only costs space. */
  readonly checkHome: (options: {
    readonly repair: boolean;
    readonly removeOrphans: boolean;
  }) => Promise<CheckedHome>;
  /** Copies one store to another. Each is a folder, or the address of a database. */
  readonly copyStore: (from: string, to: string) => Promise<CopiedStores>;
  /**
   * Rejects with a CliError that lists every fault when a worker on this machine would refuse the input. If undefined: only
   * the worker judges it, after the start.
   */
  readonly checkInput?:
    | ((workflowType: OpenRunInput['workflow_type'], input: object) => Promise<void>)
    | undefined;
  /** Called with the id of a run that was started. If undefined: not called. */
  readonly onStarted?: ((runId: string) => void) | undefined;
  /**
   * Words for the person who leaves a run with Ctrl-C, where its worker ends with this process. If undefined: the run goes on
   * without the person.
   */
  readonly describeLeaving?: ((runId: string) => string) | undefined;
  readonly pages: CliPages;
  readonly threads: CliThreads;
  /**
   * Budgets of tenants in the store. Needs no server and no worker. Every method rejects with a CliError when the store can't
   * be read or written.
   */
  readonly budgets: TenantBudgets;
  readonly changes: CliChanges;
  readonly agents: CliAgents;
  /** Undefined where MCP is not available. */
  readonly mcp?: CliMcp | undefined;
  /**
   * Reads the plan of a designed run, the newest or the version with this number from 1; null when there is none. Rejects
   * with a CliError for an unknown run.
   */
  readonly readPlan: (runId: string, version?: number) => Promise<CoordinationPlan | null>;
  /** Checks beyond those that need only the server. */
  readonly doctorChecks: readonly DoctorCheck[];
  /** Sends a test message as the settings of this shell say. If undefined: not available. */
  readonly notificationTest?: DoctorCheck | undefined;
  /** Replays histories on the code of this checkout, one after the other, each as it is asked for. */
  readonly replayHistories: (
    histories: AsyncIterable<OpenHistory>,
    namespace: string,
  ) => AsyncIterable<ReplayedWorkflow>;
  /** Runs the Temporal CLI on this process's terminal. Returns its exit code. */
  readonly runTemporalCli: (args: readonly string[]) => Promise<number>;
  /** `PLANWAVE_KEYS`, as the worker has it. If undefined: none. */
  readonly keys?: KeyRing | undefined;
  /** Called with the first connection. If undefined: nothing is traced. */
  readonly startTracing?: (() => Promise<ClientTracing>) | undefined;
  /** Default: connects to the configured server. */
  readonly openSession?: ((options: ConnectOptions) => Promise<CliSession>) | undefined;
}

export interface ReplayedWorkflow {
  readonly workflowId: string;
  /** Reason why the code of this checkout can't carry it on, or null. */
  readonly fault: string | null;
}

interface ExportedRun {
  /** Folder that was written. */
  readonly path: string;
}

/** Runs as people look at them, from the artifact home alone. Needs no server and no worker. */
export interface CliPages {
  /** Lists all runs, the newest first. */
  list(this: void): Promise<readonly RunEntry[]>;
  /** @returns null for an unknown run. */
  read(this: void, runId: string): Promise<RunPage | null>;
  /** Returns a text that changes with everything that the page shows. */
  readVersion(this: void, runId: string): Promise<string>;
}

/**
 * Changes that a run has made to its workspace, a git repository. Needs no server and no worker.
 *
 * Every method rejects with a CliError when the run is unknown, has no such workspace, or its changes contradict each
 * other or the folder. Then no file was touched.
 */
export interface CliChanges {
  /** Returns a patch. @param delegationId null: of the whole run. */
  diff(runId: string, delegationId: string | null): Promise<string>;
  apply(runId: string): Promise<TakenOver>;
  undo(runId: string): Promise<TakenOver>;
}

/** Files that were changed in the user's folder; none when there was nothing to do. */
export interface TakenOver {
  readonly dir: string;
  readonly files: readonly { readonly change: string; readonly path: string }[];
  /**
   * Fate of the run's commit after `undo`: a commit on top reverts it, or the files are back but not committed. Absent when
   * the run made none.
   */
  readonly commit?: 'reverted' | 'left';
}

/**
 * The threads of teams, for people who look into them and delete them. Needs no server and no worker.
 *
 * Every method rejects with a CliError when the threads can't be read or written.
 */
export interface CliThreads {
  /** @param options `userId`: only entries of this person, or null for all. */
  list(options: { readonly limit: number; readonly userId: string | null }): Promise<ListedThreads>;
  /** @param limit entries, the newest, at most. */
  read(threadId: string, limit: number): Promise<ReadThread>;
  count(which: EntrySelection): Promise<EntryCounts>;
  /** Returns what was deleted. */
  remove(which: EntrySelection): Promise<EntryCounts>;
}

/** Agents as a worker on this machine would read them. Needs no server and no worker. */
export interface CliAgents {
  /** @param dir folder with own agents; null for the shipped ones only. */
  load(dir: string | null): Promise<LoadedAgents>;
  /** Returns what a worker would refuse in the text of an agent's file. */
  check(text: string): Promise<readonly FaultOfLine[]>;
  /** Finds what the text of an agent's file grants and a worker with the settings of this shell does not have. */
  findLacks(text: string): Promise<AgentLacks>;
}

interface FaultOfLine {
  readonly line: number;
  readonly reason: string;
}

export interface AgentLacks {
  /** With these, no run starts. */
  readonly faults: readonly FaultOfLine[];
  /** The agent goes without these. */
  readonly leftOut: readonly FaultOfLine[];
}

export interface LoadedAgents {
  /** Sorted by agent_id. Empty when there are faults. */
  readonly agents: readonly (AgentDefinition & { readonly source: 'shipped' | 'own' })[];
  /** Place, `file:line` where it is a file's, and reason. */
  readonly faults: readonly { readonly path: string; readonly reason: string }[];
}

/** The MCP servers of this machine's settings. Needs no server of Temporal and no worker. */
export interface CliMcp {
  /** Reads the settings and starts nothing. @param agentsDir folder with own agents; null for the shipped ones only. */
  list(agentsDir: string | null): Promise<ListedMcp>;
  /** Starts the servers and ends them. @param name null for all of them. */
  check(agentsDir: string | null, name: string | null): Promise<readonly CheckedMcpServer[]>;
}

export interface ListedMcp {
  readonly servers: readonly ListedMcpServer[];
  /** Grants of servers that do not exist. */
  readonly unknown: readonly { readonly agent: string; readonly grant: string }[];
}

export interface ListedMcpServer {
  readonly name: string;
  /** File that describes it. */
  readonly file: string;
  readonly transport: 'stdio' | 'http';
  /** Command without arguments, or address without query: those may hold secrets. */
  readonly where: string;
  readonly trusted: boolean;
  readonly sandboxed: boolean;
  readonly granted_to: readonly string[];
}

export interface CheckedMcpServer extends ListedMcpServer {
  /** Reason why it has no tools, and the cure; null when it works. */
  readonly fault: string | null;
  readonly tools: readonly {
    readonly name: string;
    readonly effect: 'read' | 'acting';
    readonly brings: readonly string[];
    /** SHA-256 of all that the server says about it, in Base64. */
    readonly hash: string;
    /** Text of the server: data. */
    readonly description: string;
    readonly granted_to: readonly string[];
  }[];
  readonly left_out: readonly { readonly tool: string; readonly reason: string }[];
}

/** One thing that must be right before a run can work. */
export interface DoctorCheck {
  readonly name: string;
  /** Never rejects for what it checks; a rejection is shown as a failed check. */
  run(): Promise<DoctorFinding>;
}

export interface DoctorFinding {
  readonly ok: boolean;
  /** The finding in one line. */
  readonly detail: string;
  /** The remedy when it is not ok. */
  readonly cure?: string | undefined;
}
