import { AgentOutput } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TaskRecord, TeamReport } from '../../contracts/team-run.ts';
import { StoredPlan } from '../../contracts/wave-plan.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';
import type { TriadDissent } from '../../core/pool/find-disputes.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readTeamDissent } from '../artifacts/read-disputes.ts';
import { readTeamReport } from '../artifacts/read-report.ts';
import { readShape } from '../artifacts/read-artifact.ts';

/** The report of a team, with every text that it names. Teams and triads among its members have reports of their own. */
export interface LoadedTeam {
  readonly report: TeamReport;
  readonly report_ref: Ref;
  /** Has the message. */
  readonly plan: WavePlan;
  readonly tasks: readonly LoadedTask[];
  readonly output: AgentOutput | null;
  /** Of triads among its members, and among those of its teams. */
  readonly dissent: readonly TriadDissent[];
}

export interface LoadedTask extends TaskRecord {
  /** What the leader asked for; null when its time was over before that was planned. */
  readonly planned: Delegation | null;
  readonly output: AgentOutput | null;
  /** The last of what had arrived when its time was over; null when nothing had. */
  readonly partial: string | null;
}

/**
 * @throws {ArtifactCorrupt} when the report or a text is missing, damaged or of another shape.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function loadTeam(store: ArtifactStore, ref: Ref): Promise<LoadedTeam> {
  const report = await readTeamReport(store, ref);
  const [plan, tasks, output, dissent] = await Promise.all([
    readPlan(store, report.plan_ref),
    Promise.all(report.tasks.map((task) => loadTask(store, task))),
    readOutput(store, report.output_ref),
    readTeamDissent(store, ref),
  ]);
  return { report, report_ref: ref, plan, tasks, output, dissent };
}

async function loadTask(store: ArtifactStore, task: TaskRecord): Promise<LoadedTask> {
  const { delegation_id, plan_ref, output_ref, partial_ref } = task;
  const [plan, output, partial] = await Promise.all([
    readPlan(store, plan_ref),
    readOutput(store, output_ref),
    partial_ref === null ? null : store.getText(partial_ref),
  ]);
  const planned = plan.delegations.find((one) => one.delegation_id === delegation_id) ?? null;
  return { ...task, planned, output, partial };
}

function readPlan(store: ArtifactStore, ref: Ref): Promise<WavePlan> {
  return readShape(store, ref, StoredPlan, 'a wave plan');
}

async function readOutput(store: ArtifactStore, ref: Ref | null): Promise<AgentOutput | null> {
  return ref === null ? null : readShape(store, ref, AgentOutput, 'an agent output');
}
