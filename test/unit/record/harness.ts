import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createFileProjection } from '../../../activities/adapters/file-projection.ts';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createRunChanges } from '../../../activities/adapters/git/git-run-changes.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import type { RecordDeps } from '../../../activities/run-record/deps.ts';
import { readRecord } from '../../../activities/artifacts/record-log.ts';
import { createRecordActivities } from '../../../activities/run-record/create-record-activities.ts';
import { createTeamActivities } from '../../../activities/team/create-team-activities.ts';
import type {
  Activities,
  OpenRunInput,
  OpenRunResult,
  UpdateRecordResult,
} from '../../../contracts/activity-types.ts';
import type { AgentDefinition } from '../../../contracts/agent-definition.ts';
import type { RecordChange, RunRecord } from '../../../contracts/run-record.ts';
import { atTestEnd } from '../../support/cleanup.ts';

/** When the runs of these tests began, Unix epoch seconds. */
export const startedAt = 1_760_000_000;

export function agent(id: string, tools: readonly string[] = []): AgentDefinition {
  return {
    agent_id: id,
    description: `Does what a ${id} does.`,
    capabilities: [],
    allowed_tools: [...tools],
    risk_level: 'low',
    model: null,
    prompt: `You are the ${id}.`,
  };
}

export async function createFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'planwave-record-'));
  atTestEnd(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export interface Harness
  extends ReturnType<typeof createRecordActivities>, Pick<Activities, 'recordTeam'> {
  readonly home: string;
  readonly deps: RecordDeps;
  /** The record behind a reference. */
  record(ref: string): Promise<RunRecord>;
  /** Stores a value as JSON. */
  put(value: unknown): Promise<string>;
  /** Opens `my-run` with an input as somebody typed it. */
  open(workflowType: OpenRunInput['workflow_type'], input: unknown): Promise<OpenRunResult>;
  /** Opens a run and applies changes, one update each, a minute apart. */
  begin(runId: string, input?: unknown): Promise<RunningRun>;
}

export interface RunningRun {
  readonly runId: string;
  ref(): string;
  apply(...changes: readonly RecordChange[]): Promise<UpdateRecordResult>;
  record(): Promise<RunRecord>;
}

export async function createHarness(over: Partial<RecordDeps> = {}): Promise<Harness> {
  const home = await createFolder();
  const deps: RecordDeps = {
    store: createFileArtifactStore({ home }),
    index: createFileRunIndex({ home }),
    identifyStore: async () => ({ id: 'ab12', place: `"${home}" on this host` }),
    agents: () => ({ load: async () => [agent('planner'), agent('researcher'), agent('writer')] }),
    projection: createFileProjection({ home }),
    workspaces: fileWorkspaces(home),
    changes: createRunChanges({ home }),
    toolNames: ['load_detail'],
    toolProperties: {},
    workspaceTools: [],
    middlewareNames: [],
    approvers: null,
    models: [],
    isPriced: () => true,
    ...over,
  };
  const worktrees = createGitWorktrees({ home });
  const { recordTeam } = createTeamActivities({ ...deps, worktrees });
  const bare = { ...createRecordActivities(deps), recordTeam };
  const activities: typeof bare = {
    archiveSessions: (input) => new MockActivityEnvironment().run(bare.archiveSessions, input),
    openRun: (input) => new MockActivityEnvironment().run(bare.openRun, input),
    findMergeConflicts: (input) =>
      new MockActivityEnvironment().run(bare.findMergeConflicts, input),
    proposeChanges: (input) => new MockActivityEnvironment().run(bare.proposeChanges, input),
    applyRunChanges: (input) => new MockActivityEnvironment().run(bare.applyRunChanges, input),
    judgeAnswers: (input) => new MockActivityEnvironment().run(bare.judgeAnswers, input),
    recordPhase: (input) => new MockActivityEnvironment().run(bare.recordPhase, input),
    recordTeam: (input) => new MockActivityEnvironment().run(bare.recordTeam, input),
    reviewDecision: (input) => new MockActivityEnvironment().run(bare.reviewDecision, input),
    updateRecord: (input) => new MockActivityEnvironment().run(bare.updateRecord, input),
  };
  const record = (ref: string): Promise<RunRecord> => readRecord(deps.store, ref);
  return {
    ...activities,
    home,
    deps,
    record,
    open: (workflow_type, input) =>
      activities.openRun({ workflow_type, run_id: 'my-run', input, started_at: startedAt }),
    put: (value) => deps.store.put(JSON.stringify(value)),
    begin: async (runId, input = { goal: 'Compare ways to store sensor data' }) => {
      const opened = await activities.openRun({
        workflow_type: 'plannerRun',
        run_id: runId,
        input,
        started_at: startedAt,
      });
      let ref = opened.record_ref;
      let now = startedAt;
      return {
        runId,
        ref: () => ref,
        apply: async (...changes) => {
          now += 60;
          const result = await activities.updateRecord({
            run_id: runId,
            record_ref: ref,
            changes,
            now,
          });
          ref = result.record_ref;
          return result;
        },
        record: () => record(ref),
      };
    },
  };
}

/** A harness for each test. @returns an object that is filled anew before each. */
export function useHarness(): Harness {
  const harness: Harness = Object.create(null);
  beforeEach(async () => {
    Object.assign(harness, await createHarness());
  });
  return harness;
}
