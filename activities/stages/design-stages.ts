import type { DesignStageName } from '../../contracts/names.ts';
import type { DesignStage } from './define-design-stage.ts';
import {
  designChangeStage,
  designReviewStage,
  adaptationStage,
  loopAnalysisStage,
  pocDecisionStage,
  pocEvidenceStage,
} from './design-work.ts';
import {
  briefStage,
  interviewStage,
  explanationStage,
  checkpointsStage,
  fileStructureStage,
  instructionsStage,
  rosterStage,
  sequencingStage,
} from './design-specialists.ts';
import {
  bestPracticesStage,
  consultationStage,
  pocIntegrationStage,
  pocRecommendationStage,
  researchStage,
} from './design-risks.ts';

export const designStages = {
  interview: interviewStage,
  brief: briefStage,
  roster: rosterStage,
  sequencing: sequencingStage,
  file_structure: fileStructureStage,
  checkpoints: checkpointsStage,
  instructions: instructionsStage,
  design_change: designChangeStage,
  research: researchStage,
  consultation: consultationStage,
  poc_recommendation: pocRecommendationStage,
  poc_integration: pocIntegrationStage,
  best_practices: bestPracticesStage,
  design_review: designReviewStage,
  explanation: explanationStage,
  poc_evidence: pocEvidenceStage,
  poc_decision: pocDecisionStage,
  loop_analysis: loopAnalysisStage,
  adaptation: adaptationStage,
} as const satisfies Readonly<Record<DesignStageName, DesignStage>>;
