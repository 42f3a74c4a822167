import {
  BestPractices,
  ConversationSummary,
  DesignBrief,
  DesignChange,
  DesignCheckpoints,
  DesignFiles,
  DesignInstructions,
  DesignReview,
  DesignRoster,
  DesignSequence,
  DoerConsultation,
  PocIntegration,
  PocRecommendation,
  TechnologyResearch,
} from '../../contracts/design.ts';
import type { DesignPrompt } from '../../contracts/design.ts';
import type { DesignStageName } from '../../contracts/names.ts';
import type { Stage } from './stage.ts';
import { defineDesignStage } from './define-design-stage.ts';

const rules =
  'You take part in the design of a plan that several agents will carry out. Answer with one JSON object in the shape asked for.';

/** Stages of a design, in the order in which it asks for them. */
export const designStages = {
  interview: defineDesignStage({
    stage: 'interview',
    schema: ConversationSummary,
    rules,
    request: 'Find out what the user wants. Ask what would change the design.',
  }),
  brief: defineDesignStage({
    stage: 'brief',
    schema: DesignBrief,
    rules,
    request: 'Write the brief for the design.',
  }),
  roster: defineDesignStage({
    stage: 'roster',
    schema: DesignRoster,
    rules,
    request: 'Choose the agents.',
  }),
  sequencing: defineDesignStage({
    stage: 'sequencing',
    schema: DesignSequence,
    rules,
    request: 'Divide the work into tasks and put them in order.',
  }),
  file_structure: defineDesignStage({
    stage: 'file_structure',
    schema: DesignFiles,
    rules,
    request: 'Say which files each task reads and writes.',
  }),
  checkpoints: defineDesignStage({
    stage: 'checkpoints',
    schema: DesignCheckpoints,
    rules,
    request: 'Say how each task is verified, and by whom.',
  }),
  instructions: defineDesignStage({
    stage: 'instructions',
    schema: DesignInstructions,
    rules,
    request: 'Write the instructions of each task.',
  }),
  design_change: defineDesignStage({
    stage: 'design_change',
    schema: DesignChange,
    rules,
    request:
      'Change the plan by operations, so that every finding and requested change is settled.',
  }),
  research: defineDesignStage({
    stage: 'research',
    schema: TechnologyResearch,
    rules,
    request: 'Collect practices and failure patterns of the technology.',
    tools: 'granted',
  }),
  consultation: defineDesignStage({
    stage: 'consultation',
    schema: DoerConsultation,
    rules,
    request: 'Name the risky assumptions in the tasks of your name in the plan.',
  }),
  poc_recommendation: defineDesignStage({
    stage: 'poc_recommendation',
    schema: PocRecommendation,
    rules,
    request: 'Recommend proofs of concept for the risks that deserve one.',
  }),
  poc_integration: defineDesignStage({
    stage: 'poc_integration',
    schema: PocIntegration,
    rules,
    request: 'Say where in the plan each proof of concept belongs.',
  }),
  best_practices: defineDesignStage({
    stage: 'best_practices',
    schema: BestPractices,
    rules,
    request: 'Say which practices belong into the instructions of which task.',
  }),
  design_review: defineDesignStage({
    stage: 'design_review',
    schema: DesignReview,
    rules,
    request: 'Review the plan. List only what must change before it may run.',
  }),
} as const satisfies { readonly [N in DesignStageName]: Stage<DesignPrompt> };
