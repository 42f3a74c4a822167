import { ApplicationFailure, setCurrentDetails } from '@temporalio/workflow';
import type { DesignPrompt } from '../../contracts/design.ts';
import { defaultLimits, engineLimits } from '../../core/limits.ts';
import { turnSummary } from '../../core/render/labels.ts';
import { plainText } from '../../core/text/markdown.ts';
import { openConsultation } from '../shared/activities.ts';
import { unlimitedBudget } from '../shared/budget.ts';
import { createControl } from '../shared/control.ts';
import { converse, openConversation } from '../shared/conversation.ts';
import { nobodyAbove } from '../shared/superior.ts';
import { isStoreFault, readFailure } from '../shared/failures.ts';
import type {
  ConsultationInput,
  ConsultationResult,
  ConsultedContext,
  OpenConsultationResult,
} from '../../contracts/design-run.ts';

/**
 * Has an agent of a run's design answer a question of the user, from what is recorded. It sends nothing to the run and
 * writes nothing into its record, so it changes nothing, whatever question and answer say.
 *
 * @throws UnknownRun without a run, InvalidInput without a design, and NoAnswer with the reason.
 */
export async function consultation(input: ConsultationInput): Promise<ConsultationResult> {
  const opened = await open(input);
  if (opened.type === 'refused') {
    const type = opened.is_unknown === true ? 'UnknownRun' : 'InvalidInput';
    throw ApplicationFailure.nonRetryable(opened.reason, type);
  }
  const { context } = opened;
  setCurrentDetails(`**Question:** ${plainText(context.input.question, 1_000)}`);
  const { agent_id, registry_ref } = context;
  const conversation = openConversation(promptOf(context), {
    ...defaultLimits,
    attempts_max: engineLimits.planAttemptsMax,
  });
  const end = await converse(conversation, {
    run_id: context.input.run_id,
    agent_id,
    registry_ref,
    stage: 'explanation',
    label: (calls) => turnSummary(agent_id, 'explanation', calls),
    control: createControl({ paused: null, parked: null }),
    // A person waits at the terminal: trouble that would park a run ends the consultation, and can be asked again.
    superior: nobodyAbove(noAnswer),
    budget: unlimitedBudget,
    check: () => [],
  });
  const { usage } = conversation;
  if (end.type !== 'output' || end.outline.shape !== 'design') {
    return noAnswer(end.type === 'failed' ? end.reason : 'it was stopped');
  }
  const { explanation } = end.outline.reply;
  if (explanation === undefined) return noAnswer('the reply has another shape');
  return { ...explanation, agent_id, usage };
}

/** Reads the design. A store that is not there, or is another one than the run's, is a refusal. */
async function open(input: ConsultationInput): Promise<OpenConsultationResult> {
  try {
    const options = { summary: 'read the design' };
    return await openConsultation.executeWithOptions(options, [{ input }]);
  } catch (error) {
    const failure = readFailure(error);
    if (!isStoreFault(failure)) throw error;
    return { type: 'refused', reason: failure.message };
  }
}

function promptOf({ input, record_ref, materials, plan_ref }: ConsultedContext): DesignPrompt {
  return {
    kind: 'design',
    stage: 'explanation',
    record_ref,
    materials,
    plan_ref,
    subject: input.question,
    findings: [],
    requested_change: null,
    amendments: [],
  };
}

function noAnswer(reason: string): never {
  throw ApplicationFailure.nonRetryable(`There is no answer: ${reason}`, 'NoAnswer');
}
