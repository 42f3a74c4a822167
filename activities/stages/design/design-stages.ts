import type { DesignPrompt, DesignStageName } from '../../../contracts/design.ts';
import type { Stage } from '../stage.ts';
import { designChangeStage, designReviewStage } from './change.ts';
import { briefStage, interviewStage } from './clarify.ts';
import {
  bestPracticesStage,
  consultationStage,
  pocIntegrationStage,
  pocRecommendationStage,
  researchStage,
} from './risks.ts';
import {
  checkpointsStage,
  fileStructureStage,
  instructionsStage,
  rosterStage,
  sequencingStage,
} from './specialists.ts';

/** Stages of a design by name. */
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
} as const satisfies Readonly<Record<DesignStageName, Stage<DesignPrompt>>>;
