/**
 * Whether a triad's output says that a criterion is met whose section the three never settled.
 *
 * Invariants:
 *   CS1. A criterion whose section nobody owns, or whose section is disputed, is not met.
 *   CS2. A section that is named after no criterion says nothing of any.
 */
import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { SpecState } from '../../contracts/spec.ts';
import { findUnsettled } from '../spec/read-spec.ts';

export function checkSettled(output: AgentOutputOutline, spec: SpecState): OutputFault[] {
  const unsettled = findUnsettled(spec);
  return output.coverage.criteria_met.flatMap(({ criterion_id }, i) => {
    if (!unsettled.includes(criterion_id)) return [];
    return [
      {
        path: `coverage.criteria_met[${i}].criterion_id`,
        reason: `section "${criterion_id}" was not settled, so the criterion is not met`,
        hint: 'Try: move it to criteria_unmet and say there what is disputed',
      },
    ];
  });
}
