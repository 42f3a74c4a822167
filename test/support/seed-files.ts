import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/**
 * Formats of seed 003's files, written down from the seed and not from the engine's contracts. Fields beyond the seed are
 * named here, each with its reason; any other one is a fault.
 */
const epoch = z.int().min(1_000_000_000).max(9_999_999_999);
const taskId = z.string().regex(/^[a-z0-9][a-z0-9_-]*_[0-9]{10}$/);

/** "Agent Status Values", and `failed` of issue 5. */
const agentStatus = z.enum([
  'pending',
  'working',
  'completion_drive_review',
  'ready_for_verification',
  'verified',
  'blocked',
  'session_complete',
  'failed',
]);

/** "shared_status.json Structure". */
const sharedStatus = z.strictObject({
  task_id: z.string(),
  status: z.enum(['in_progress', 'blocked', 'completed', 'finished_unmet', 'stopped', 'abandoned']),
  session_start: epoch,
  agents: z.record(
    z.string(),
    z.strictObject({
      status: agentStatus,
      completion_drive_notes_count: z.int().optional(),
      unresolved_notes: z.int().optional(),
      dependencies: z.array(z.string()).optional(),
      last_update: epoch.nullable(),
    }),
  ),
  verification: z.record(
    z.string(),
    z.strictObject({ status: agentStatus, assigned_agents: z.array(z.string()).min(1) }),
  ),
  overall_completion_drive_gate: z.enum(['blocked', 'open']).optional(),
});

/** "Completion Drive File Format". */
const session = z.strictObject({
  task_id: taskId,
  session_start: epoch,
  notes: z.array(
    z.strictObject({
      note_id: z.string().regex(/^note_[0-9]{3}$/),
      timestamp: epoch,
      description: z.string().min(1),
      context: z.string().min(1),
      /** Beyond the seed: by it, code knows who may resolve the note. */
      category: z.string(),
      status: z.enum(['open', 'resolved', 'escalated']),
      resolution: z.string().nullable(),
      resolved_by: z.enum(['agent_self', 'workflow_executor', 'user']).nullable(),
      resolution_timestamp: epoch.nullable(),
      escalation_reason: z.string().nullable(),
    }),
  ),
});

/** "Verification Workflow", failure path. */
const verificationResults = z.strictObject({
  task_id: taskId,
  timestamp: epoch,
  result: z.literal('fail'),
  missing_evidence: z.array(z.string().min(1)).min(1),
});

/** "Undefined Archival Agent Behavior", whose log and index have no fields in the seed: what was moved where, and what lies there. */
const cleanupLog = z.strictObject({
  operations: z.array(
    z.strictObject({
      operation: z.enum(['archive', 'archive_crashed_run']),
      timestamp: epoch,
      from: z.string().endsWith('/session_current.json').optional(),
      to: z.string().optional(),
      run_id: z.string().optional(),
      sessions: z.int().optional(),
    }),
  ),
  failures: z.array(z.string()),
});
const archiveIndex = z.strictObject({
  run_id: z.string(),
  sessions: z.array(
    z.strictObject({
      agent: z.string(),
      task_id: taskId,
      file: z.string(),
      status: agentStatus,
      notes: z.int(),
      unresolved_notes: z.int(),
      archived_at: epoch,
    }),
  ),
});

/** Format of a file: a schema, or for a text the headings that it has, in this order. */
type Format = z.ZodType | readonly string[];

/** "Conversation Summary Format". */
const summaryParts = [
  '# Conversation Summary: ',
  "## What We're Trying to Accomplish",
  '## Key Decisions Made',
  '## Constraints & Assumptions',
  '## Questions Resolved',
  '## Open Items',
  '## Dependencies & Integration Points',
];

/** "Output: Workflow Design". */
const planParts = [
  '## Agent Roster',
  '## Sequence',
  '## Tasks',
  '## Validation Checkpoints',
  '## File Communication Contracts',
  '## Escalation Procedures',
];

/** "Missing Agent Instruction Templates": what the instructions of each agent have. */
const instructionParts = ['## Escalation', '## Reading and writing', '## Status', '## Turn'];

/** Files of the directory structure by their names. */
const formats: readonly (readonly [name: RegExp, format: Format])[] = [
  [/^conversation_summary_[a-z0-9_-]+\.md$/, summaryParts],
  [/^workflow_coordination_plan\.md$/, planParts],
  [/^shared_status\.json$/, sharedStatus],
  [/^agents\/[a-z0-9_-]+\/agent_instructions\.md$/, instructionParts],
  [/^agents\/[a-z0-9_-]+\/completion_drive\/session_current\.json$/, session],
  [/^agents\/[a-z0-9_-]+\/completion_drive\/session_[0-9]{8}_[0-9]{4}_[a-z0-9_-]+\.json$/, session],
  [/^agents\/[a-z0-9_-]+\/verification_results\.json$/, verificationResults],
  [/^agents\/[a-z0-9_-]+\/task_output\/[^/]+\.md$/, []],
  [/^archive\/cleanup_log\.json$/, cleanupLog],
  [/^archive\/archive_index\.json$/, archiveIndex],
];

/** Part of `shared_status.json` that tests read. */
export interface SharedStatus {
  readonly status: string;
  readonly agents: Readonly<Record<string, { readonly status: string }>>;
}

/** Reads `shared_status.json` of a run's folder. Returns null before it was written for the first time. */
export function readSharedStatus(folder: string): SharedStatus | null {
  const path = join(folder, 'shared_status.json');
  if (!existsSync(path)) return null;
  const status: SharedStatus = JSON.parse(readFileSync(path, 'utf8'));
  return status;
}

/**
 * Returns the files of a run's folder that the seed names, and what of them is not as the seed has it. While the run is at
 * work, files of its folder come and go: wait with `untilIdle` first.
 */
export function readSeedFiles(folder: string): {
  readonly files: readonly string[];
  readonly faults: readonly string[];
} {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
  const known = paths.flatMap((path) => {
    const found = formats.find(([name]) => name.test(path));
    return found === undefined ? [] : [{ path, format: found[1] }];
  });
  const files = known.map(({ path }) => path);
  const unknown = paths.filter((path) => path.startsWith('agents/') && !files.includes(path));
  const misshapen = known.flatMap(({ path, format }) =>
    findMisshape(format, readFileSync(join(folder, path), 'utf8')).map(
      (fault) => `${path}: ${fault}`,
    ),
  );
  return {
    files,
    faults: [...unknown.map((path) => `${path}: the seed has no such file`), ...misshapen],
  };
}

function findMisshape(format: Format, text: string): string[] {
  if (format instanceof z.ZodType) {
    const { error } = format.safeParse(JSON.parse(text));
    return error === undefined ? [] : [z.prettifyError(error)];
  }
  if (text.trim() === '') return ['it is empty'];
  const lines = text.split('\n');
  const places = format.map((heading) => lines.findIndex((line) => line.startsWith(heading)));
  const isInOrder = places.every((place, at) => place > (places[at - 1] ?? -1));
  return isInOrder ? [] : [`the headings are not ${format.join(', ')}`];
}
