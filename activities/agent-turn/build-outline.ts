import type { TurnOutline } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';
import { outlinePlan } from '../../core/plan/outline-plan.ts';
import { countBytes } from '../text/bytes.ts';
import type { Output } from './read-output.ts';

/** Bytes of an outline as JSON. It goes into history; what is longer belongs into the Markdown fields. */
const outlineBytesMax = 64_000;

/**
 * What the rules need to know of an output. Its long texts stay in the artifact.
 *
 * @param text_faults Of an agent's output: what is wrong with its texts. Default: nothing.
 */
export function buildOutline(
  { shape, value }: Output,
  ref: Ref,
  text_faults: readonly OutputFault[] = [],
): TurnOutline {
  switch (shape) {
    case 'wave_plan': {
      return { shape, plan: outlinePlan(value, ref) };
    }
    case 'agent_output': {
      const { compact_md: _compact, detailed_md: _detailed, facts: stated, ...rest } = value;
      const facts = stated.map((fact) => ({ key: fact.key, value: fact.value }));
      return { shape, output: { ...rest, facts, text_faults, output_ref: ref } };
    }
    case 'wave_decision': {
      const { wave_compact: _compact, wave_detailed: _detailed, facts: _facts, ...kept } = value;
      const { answer, ...rest } = kept;
      return { shape, decision: { ...rest, has_answer: answer !== null, decision_ref: ref } };
    }
    case 'question_review':
      return { shape, review: { ...value, review_ref: ref } };
    case 'member_turn':
      return { shape, said_ref: ref };
    case 'code':
      return { shape, code_ref: ref, bytes: countBytes(value) };
  }
}

/** @returns the fault to send back, or null when the outline is small enough. */
export function checkOutlineSize(outline: TurnOutline): OutputFault | null {
  const bytes = countBytes(JSON.stringify(outline));
  if (bytes <= outlineBytesMax) return null;
  const [path, size] = findLargest(outline);
  return {
    path,
    reason: `the output without its Markdown takes ${bytes} bytes, at most ${outlineBytesMax}; this field takes ${size}`,
    hint: 'Try: shorten it: fewer entries, shorter names and texts. Long text belongs into Markdown fields and task descriptions.',
  };
}

function findLargest(outline: TurnOutline): [path: string, bytes: number] {
  const { shape: _shape, ...body } = outline;
  const fields = Object.values(body).flatMap((fieldsOfBody: object | string | number) =>
    typeof fieldsOfBody === 'object' ? Object.entries(fieldsOfBody) : [],
  );
  const sizes = fields.map(([name, value]): [string, number] => [
    name,
    countBytes(JSON.stringify(value)),
  ]);
  return sizes.reduce((largest, next) => (next[1] > largest[1] ? next : largest), ['$', 0]);
}
