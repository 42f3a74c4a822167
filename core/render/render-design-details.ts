/** Renders a design for the Web UI. */
import type { PlanOutline } from '../../contracts/design-run.ts';
import type { DesignMaterial } from '../../contracts/design.ts';
import { plainText } from '../text/markdown.ts';
import { nameStage } from './labels.ts';

export function renderDesignDetails({
  materials,
  plan,
}: {
  readonly materials: readonly DesignMaterial[];
  readonly plan: PlanOutline | null;
}): string {
  const stages = materials.map(
    ({ stage, subject }) =>
      `- ${nameStage(stage, subject === null ? null : plainText(subject, 80))}`,
  );
  const shape =
    plan === null
      ? 'The plan is not assembled yet.'
      : `Plan \`${plan.plan_ref.slice(0, 12)}\`: ${plan.tasks} tasks, ${plan.agents.length} agents, ${plan.proofs_of_concept} proofs of concept.`;
  return [shape, '', '**Stages done**', ...stages].join('\n');
}
