import type {
  OrderDecisionInput,
  ReadDecisionInput,
  RecalledStage,
  RecallStagesInput,
  DesignActivities,
} from '../../contracts/design-activities.ts';
import { orderDecision, readDecision } from '../../core/design/architect-task.ts';
import { CompletionSession } from '../../contracts/note.ts';
import { type WavePlanOutline } from '../../contracts/wave-plan.ts';
import { definedOnly } from '../../core/json.ts';
import { readCoordinationPlan } from '../artifacts/read-reports.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { readOutput, readPlan, readShape } from '../artifacts/read-artifact.ts';
import { type ArtifactStore, ArtifactCorrupt } from '../ports/artifact-store.ts';
import { storePlan } from '../run-record/compose-plan.ts';
import { designStages } from '../stages/design-stages.ts';
import type { RecordDeps } from '../run-record/deps.ts';
import { withHeartbeat } from '../attempt/heartbeat.ts';
import {
  admitPlan,
  assembleDesign,
  changeDesign,
  checkDesign,
  describePlan,
} from './design-plan.ts';
import { openConsultation, type ConsultationDeps } from './open-consultation.ts';
import { planNextWave, findWork, rateChange } from './plan-next-wave.ts';
import { findResearch, keepResearch, type ResearchDeps } from './research.ts';

/** Adds the task of a decision to the plan of a wave. Repeating it gives the same. */
async function addDecision(
  store: ArtifactStore,
  { architect, wave_plan_ref, asker: id, ...rest }: OrderDecisionInput,
): Promise<WavePlanOutline> {
  const [plan, wave] = await Promise.all([
    readCoordinationPlan(store, architect.plan_ref),
    readPlan(store, wave_plan_ref),
  ]);
  const asker = wave.delegations.find(({ delegation_id }) => delegation_id === id);
  if (asker === undefined) {
    const message = `The plan ${wave_plan_ref} has no delegation ${id}.`;
    throw new ArtifactCorrupt(message, { ref: wave_plan_ref, path: wave_plan_ref });
  }
  const decision = orderDecision(plan, { ...rest, asker }, architect);
  return storePlan(store, { ...wave, delegations: [...wave.delegations, decision] });
}

async function readAnswers(
  store: ArtifactStore,
  { output_ref, questions }: ReadDecisionInput,
): Promise<{ readonly answers: readonly (string | null)[] }> {
  const output = await readOutput(store, output_ref);
  return { answers: readDecision(output, questions) };
}

/** Reads the results of stages that ended in an earlier design of the run. */
async function recallStages(
  store: ArtifactStore,
  { materials }: RecallStagesInput,
): Promise<{ readonly stages: readonly RecalledStage[] }> {
  const stages = materials.map(async ({ stage, subject, ref }): Promise<RecalledStage> => ({
    subject,
    reply: await designStages[stage].recall(store, ref),
  }));
  return { stages: await Promise.all(stages) };
}

/** Reads a session, and which of its questions the record says were refused. */
export async function recallSession(
  store: ArtifactStore,
  { session_ref, record_ref }: Parameters<DesignActivities['recallSession']>[0],
): ReturnType<DesignActivities['recallSession']> {
  const session = await readShape(store, session_ref, CompletionSession, 'a session of notes');
  const { sessions = [] } = await readRecord(store, record_ref);
  const reported = sessions.find((one) => one.session_ref === session_ref);
  return { session, ...definedOnly({ refused: reported?.refused }) };
}

export interface DesignDeps extends ResearchDeps, ConsultationDeps {
  /** Tools that an agent may be granted. */
  readonly toolNames: readonly string[];
  readonly toolProperties: RecordDeps['toolProperties'];
}

/** The activities of designed mode. All of them read and write artifacts only, so each can be repeated. */
export function createDesignActivities(deps: DesignDeps): DesignActivities {
  const { store, toolNames } = deps;
  return {
    assembleDesign: (input) => guard(() => assembleDesign(store, input)),
    openConsultation: ({ input }) => guard(() => openConsultation(deps, input)),
    recallStages: (input) => guard(() => recallStages(store, input)),
    recallSession: (input) => guard(() => recallSession(store, input)),
    checkDesign: (input) => guard(() => checkDesign(store, toolNames, input)),
    changeDesign: (input) => guard(() => changeDesign(store, input)),
    describeDesign: (input) => guard(() => describePlan(store, input)),
    findResearch: (input) => guard(() => findResearch(deps, input)),
    keepResearch: (input) => guard(() => keepResearch(deps, input)),
    admitPlan: (input) => guard(() => admitPlan(store, deps.toolProperties, input)),
    planNextWave: (input) => guard(() => planNextWave(store, input)),
    orderDecision: (input) => guard(() => addDecision(store, input)),
    readDecision: (input) => guard(() => readAnswers(store, input)),
    findWork: (input) => guard(() => findWork(store, input)),
    ratePlanChange: (input) => guard(() => rateChange(store, input)),
  };
}

function guard<T>(work: () => Promise<T>): Promise<T> {
  return withHeartbeat(work);
}
