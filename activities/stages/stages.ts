import type { Prompt } from '../../contracts/model-turn.ts';
import type { StageName } from '../../contracts/names.ts';
import { codeStage } from './code.ts';
import { decisionStage } from './decision.ts';
import { delegationStage } from './delegation.ts';
import { designStages } from './design-stages.ts';
import { gradingStage } from './grading.ts';
import { leaderStage } from './leader.ts';
import { memberOutputStage, memberStage } from './member.ts';
import { planStage } from './plan.ts';
import { questionReviewStage } from './question-review.ts';
import { webResearchStage } from './web-research.ts';
import { verificationStage } from './verification.ts';
import type { PromptOf, Stage } from './stage.ts';

/** Stages by name. A stage without an entry, or an entry without a field, does not compile. */
const table = {
  plan: planStage,
  delegation: delegationStage,
  leader: leaderStage,
  member: memberStage,
  member_output: memberOutputStage,
  code: codeStage,
  decision: decisionStage,
  question_review: questionReviewStage,
  web_research: webResearchStage,
  verification: verificationStage,
  grading: gradingStage,
  ...designStages,
} as const satisfies { readonly [N in StageName]: Stage<PromptOf<N>> };

export const stages: Readonly<Record<StageName, Stage>> = table;

/** Returns the stage that a first prompt begins. A member that writes the output began like any member. */
export function stageOf(prompt: Prompt): Stage {
  return stages[prompt.kind === 'design' ? prompt.stage : prompt.kind];
}
