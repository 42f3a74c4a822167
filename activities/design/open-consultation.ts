import { designAgentIds, type DesignStageName } from '../../contracts/names.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { ArtifactStore, RunIndex } from '../ports/artifact-store.ts';
import {
  ConsultationInput,
  type ConsultedRole,
  type OpenConsultationResult,
} from '../../contracts/design-run.ts';
import { chooseLoad } from '../../core/run/run-place.ts';
import { commandText } from '../../core/text/format.ts';
import type { RecordDeps } from '../run-record/deps.ts';
import {
  describeFault,
  describeInputIssues,
  describeInvalidInput,
} from '../run-record/describe-input-issues.ts';

export interface ConsultationDeps extends Pick<RecordDeps, 'modelQueue'> {
  readonly store: ArtifactStore;
  readonly runs: Pick<RunIndex, 'read'>;
}

/** Stages that say why and how the plan changed during the work. */
const duringWork = ['poc_decision', 'loop_analysis', 'adaptation'] as const;

/** Stages whose results an agent answers from, and the agent. */
const sources: Readonly<
  Record<ConsultedRole, { readonly agent_id: string; readonly stages: readonly DesignStageName[] }>
> = {
  designer: {
    agent_id: designAgentIds.design_change,
    stages: [
      'interview',
      'brief',
      'roster',
      'sequencing',
      'file_structure',
      'checkpoints',
      'instructions',
      'design_change',
      'design_review',
      ...duringWork,
    ],
  },
  verifier: {
    agent_id: designAgentIds.design_review,
    stages: ['interview', 'brief', 'design_change', 'design_review', ...duringWork],
  },
  risk: {
    agent_id: designAgentIds.poc_recommendation,
    stages: [
      'brief',
      'research',
      'consultation',
      'poc_recommendation',
      'poc_integration',
      'best_practices',
      'poc_evidence',
      'poc_decision',
    ],
  },
};

/** Reads what an agent of a run's design knows: its results and those that it worked from, and the current plan. */
export async function openConsultation(
  { store, runs, modelQueue }: ConsultationDeps,
  typed: unknown,
): Promise<OpenConsultationResult> {
  const read = ConsultationInput.safeParse(typed);
  if (!read.success) {
    const faults = describeInputIssues(read.error, ConsultationInput).map(describeFault);
    return refuse(describeInvalidInput('consultation', faults, example));
  }
  const input = read.data;
  const { run_id, role } = input;
  const { ref } = await runs.read(run_id);
  if (ref === null) {
    const unknown = `There is no run ${run_id}. Try: ${commandText('list')}`;
    return { ...refuse(unknown), is_unknown: true };
  }
  const { design, registry_ref } = await readRecord(store, ref);
  if (design === undefined) {
    return refuse(
      `Run ${run_id} has no design that an agent could explain. A run with --mode designed has one once its interview has been answered. Try: ${commandText('status', run_id)}`,
    );
  }
  const { agent_id, stages } = sources[role];
  const newest = new Map(design.materials.map((one) => [`${one.stage} ${one.subject ?? ''}`, one]));
  const materials = [...newest.values()].filter(({ stage }) => stages.includes(stage));
  const plan_ref = design.plan_refs.at(-1) ?? null;
  const context = { input, agent_id, record_ref: ref, registry_ref, materials, plan_ref };
  return { type: 'open', context, ...chooseLoad({}, {}, modelQueue) };
}

const example = '{"run_id":"my-run","role":"designer","question":"Why two databases?"}';

function refuse(reason: string): Extract<OpenConsultationResult, { type: 'refused' }> {
  return { type: 'refused', reason };
}
