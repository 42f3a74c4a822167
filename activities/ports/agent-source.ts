import type { AgentDefinition } from '../../contracts/agent-definition.ts';

/** Source of a run's agents. Read once per run: the run keeps its snapshot. */
export interface AgentSource {
  /**
   * Loads all agents, sorted by agent_id.
   *
   * @throws {AgentFilesInvalid} when any agent is faulty; lists every fault at once.
   */
  load(): Promise<readonly AgentDefinition[]>;
}

export interface AgentFault {
  /** Path of the file as it was given to the loader. */
  readonly file: string;
  /** Line from 1; 1 when the fault concerns the whole file. */
  readonly line: number;
  /** The fault, and what was expected. */
  readonly reason: string;
}

/** Agent definitions that can't be used. The message lists every fault, one a line, as `file:line: reason`. */
export class AgentFilesInvalid extends Error {
  override readonly name = 'AgentFilesInvalid';
  readonly type = 'InvalidInput';
  readonly faults: readonly AgentFault[];

  constructor(faults: readonly AgentFault[]) {
    super(faults.map((f) => `${f.file}:${f.line}: ${f.reason}`).join('\n'));
    this.faults = faults;
  }
}
