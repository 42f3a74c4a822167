import type { OutputShape } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { jsonBlock } from '../text/blocks.ts';

const wholeJson =
  'Your last output was not taken, for the faults listed here. Mend every one and give the whole output again, as one JSON object in the shape asked for. Change nothing else without need, and claim nothing that was not done.';

const cures: Readonly<Record<OutputShape, string>> = {
  wave_plan: wholeJson,
  agent_output: wholeJson,
  wave_decision: wholeJson,
  question_review: wholeJson,
  member_turn:
    'Your turn is not over, for what is listed here. Put what is missing into the records by calls. What was taken already stands: do not repeat it.',
  code: 'Your last reply was not taken, for the faults listed here. Mend every one and give the whole code again, and nothing besides.',
};

/** Sends an output back to whoever gave it, with everything that is wrong with it. */
export function renderFaults(faults: readonly OutputFault[], shape: OutputShape): string {
  const shown = faults.map(({ path, reason, hint }) => ({ path, reason, hint }));
  return `${jsonBlock('faults', shown)}\n${cures[shape]}`;
}
