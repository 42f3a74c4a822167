import type { DesignActivities } from '../../contracts/design-activities.ts';
import { guardActivity } from '../attempt/failures.ts';
import type { RecordDeps } from '../run-record/deps.ts';
import { withHeartbeat } from '../attempt/heartbeat.ts';
import {
  admitPlan,
  assembleDesign,
  changeDesign,
  checkDesign,
  describePlan,
} from './design-plan.ts';
import { addDecision, readAnswers } from './decide-questions.ts';
import { recallStages } from './recall-stages.ts';
import { openConsultation } from './open-consultation.ts';
import type { ConsultationDeps } from './open-consultation.ts';
import { planNextWave } from './plan-next-wave.ts';
import { findWork, rateChange } from './judge-work.ts';
import { findResearch, keepResearch } from './research.ts';
import type { ResearchDeps } from './research.ts';

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
  return guardActivity(() => withHeartbeat(work));
}
