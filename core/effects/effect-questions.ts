/**
 * Words the questions about a call that changes something outside, and reads their answers.
 *
 * Invariants:
 *   EQ1. The question shows tool, agent, delegation and arguments (long ones with their beginning and their end) on one
 *        line each, without invisible characters, and the hash of the whole arguments. What the call would replace is shown
 *        line by line. The question of a guarded delegation says why it is guarded.
 *   EQ2. The question about an unverified effect has no default: only a person can say that it took place or is to be
 *        repeated.
 */
import type { EffectResolution } from '../../contracts/effect.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { cleanLine, cutText } from '../text/cut-text.ts';
import { approvalChoices, isPersons } from './decide-approval.ts';
import type { ShownCall } from './decide-approval.ts';

/** The agent and delegation that want to make a call, or have made it. */
export interface Caller {
  readonly agent_id: string;
  readonly delegation_id: string;
  /** Reason why every acting call of the delegation needs an approval. Absent: they do not. */
  readonly rule_of_two?: string;
}

const resolutions: readonly EffectResolution[] = ['verified', 'retry', 'skip'];

const targetCharsMax = 200;
const foundCharsMax = 700;
const reasonCharsMax = 400;
/** Lines, and characters of each, that say what a call would replace. */
const lossLinesMax = 10;
const lossCharsMax = 60;

/** @param shown The arguments as JSON, whole or cut. */
export function approvalQuestion(
  { agent_id, delegation_id, rule_of_two }: Caller,
  shown: ShownCall & {
    readonly target: string;
    readonly arguments_shown: string;
    readonly loss_shown: readonly string[];
  },
): AskedQuestion {
  const text = [
    `May the agent "${agent_id}" call ${cleanLine(shown.tool, targetCharsMax)} on "${cleanLine(shown.target, targetCharsMax)}"?`,
    `Delegation: ${delegation_id} (${shown.effect_id})`,
    ...(rule_of_two === undefined
      ? []
      : [`Each of its calls is asked for, because it ${cleanLine(rule_of_two, reasonCharsMax)}.`]),
    ...shown.loss_shown.slice(0, lossLinesMax).map((line) => cleanLine(line, lossCharsMax)),
    `Arguments: ${cleanLine(shown.arguments_shown, engineLimits.shownArgumentsCharsMax)}`,
    `All of them: planwave questions <run> --full, or planwave artifact ${shown.arguments_ref}`,
    `SHA-256 of the whole arguments, and their address in the store: ${shown.arguments_ref}`,
  ].join('\n');
  return {
    text: cutText(text, engineLimits.questionCharsMax),
    why_it_matters:
      'The call changes something outside of the run. The approval is for this call alone, with these arguments.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: [...approvalChoices],
    default_answer: 'deny',
  };
}

export function unverifiedQuestion(
  { agent_id, delegation_id }: Caller,
  call: Omit<ShownCall, 'before'> & { readonly target: string; readonly found: string },
): AskedQuestion {
  const text = [
    `Did ${cleanLine(call.tool, targetCharsMax)} change "${cleanLine(call.target, targetCharsMax)}"? It was interrupted, and nobody knows.`,
    `Agent: ${agent_id}, delegation: ${delegation_id} (${call.effect_id})`,
    `Found: ${cleanLine(call.found, foundCharsMax)}`,
    `SHA-256 of the arguments, and their address in the store: ${call.arguments_ref}`,
    '"verified": it is done. "retry": do it (again). "skip": go on without it.',
  ].join('\n');
  return {
    text: cutText(text, engineLimits.questionCharsMax),
    why_it_matters: 'The call is not repeated by itself, because it may have taken place.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: [...resolutions],
    default_answer: null,
  };
}

/** Returns `skip` when no person gave a valid answer: that repeats nothing and claims nothing. */
export function readResolution(answer: DeliveredAnswer | undefined): EffectResolution {
  if (answer === undefined || !isPersons(answer)) return 'skip';
  return resolutions.find((one) => one === answer.answer) ?? 'skip';
}

/** Words the result that the model reads when its call was not approved. */
export function describeDenial(tool: string, answer: DeliveredAnswer | undefined): string {
  const why =
    answer === undefined || isPersons(answer)
      ? 'The user did not approve it.'
      : `Nobody approved it (${cleanLine(answer.answer ?? '', targetCharsMax)}).`;
  return `${tool} was not called, and nothing was changed. ${why} Try: go on without it, put what depends on it into criteria_unmet, and don't ask for the same again.`;
}
