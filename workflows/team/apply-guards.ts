import { isCancellation } from '@temporalio/workflow';
import type {
  ApplyMiddlewareInput,
  ApplyMiddlewareResult,
  TeamFunctions,
} from '../../contracts/team-run.ts';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import { stepSummary } from '../../core/render/labels.ts';
import { applyMiddleware } from '../shared/activities.ts';
import type { Budget } from '../shared/budget.ts';
import type { Superior } from '../shared/superior.ts';
import { guardQuestion, mayPassGuard } from '../../core/team/resolve-team.ts';
import { askSuperior } from '../shared/superior.ts';
import { isStoreFault, readFailure, untilDone } from '../shared/failures.ts';

/** Result of the functions of one stage. */
export type Guarded =
  | { readonly type: 'passed'; readonly subject_ref: Ref }
  | { readonly type: 'blocked'; readonly reason: string };

interface GuardContext {
  readonly order: DelegationOrder;
  readonly superior: Superior;
  /** Others may use the rest of the reservation while a person decides. */
  readonly budget: Pick<Budget, 'release'>;
  /** Notes, for people, the effect of a function. */
  readonly note: (text: string) => void;
}

type Step = Pick<ApplyMiddlewareInput, 'name' | 'kind'>;

/**
 * Sends a text through a team's middlewares, then through its guardrails, in order (seed 002, cases 9.1–9.3). An input
 * that a middleware could not process ends the team, because the middleware might have removed something. An output
 * goes on without a middleware that threw. A guardrail that throws blocks.
 */
export async function applyGuards(
  setup: TeamFunctions,
  stage: 'input' | 'output',
  subject: Ref,
  context: GuardContext,
): Promise<Guarded> {
  const isInput = stage === 'input';
  const steps: Step[] = [
    ...(isInput ? setup.input_middlewares : setup.output_middlewares).map((name) => ({
      name,
      kind: 'middleware' as const,
    })),
    ...setup.guardrails[stage].map((name) => ({ name, kind: 'guardrail' as const })),
  ];
  let subject_ref = subject;
  for (const step of steps) {
    // Each function gets the result of the one before it.
    // oxlint-disable-next-line no-await-in-loop
    const end = await applyOne(step, stage, subject_ref, context);
    if (end.type === 'blocked') return end;
    ({ subject_ref } = end);
  }
  return { type: 'passed', subject_ref };
}

async function applyOne(
  step: Step,
  stage: 'input' | 'output',
  subject_ref: Ref,
  context: GuardContext,
): Promise<Guarded> {
  const { run_id, delegation } = context.order;
  const { delegation_id } = delegation;
  const { name, kind } = step;
  let result: ApplyMiddlewareResult;
  try {
    result = await untilDone(
      () =>
        applyMiddleware.executeWithOptions(
          { summary: stepSummary(delegation_id, `${kind} ${name} · ${stage}`) },
          [{ ...step, stage, run_id, delegation_id, subject_ref }],
        ),
      (reason) => context.superior.park(reason),
      isStoreFault,
    );
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = readFailure(error);
    const why =
      type === 'MiddlewareFailed'
        ? message
        : `the ${kind} "${name}" failed on the ${stage}: ${message}`;
    if (kind === 'guardrail' || stage === 'input') return { type: 'blocked', reason: why };
    context.note(`${why}. The answer went on without it.`);
    return { type: 'passed', subject_ref };
  }
  switch (result.type) {
    case 'passed':
      if (result.note !== '') context.note(`${name}: ${result.note}`);
      return { type: 'passed', subject_ref: result.subject_ref };
    case 'blocked':
      return {
        type: 'blocked',
        reason: `the guardrail "${name}" blocked the ${stage}: ${result.reason}`,
      };
    case 'ask':
      return askPerson(step, stage, result.reason, { ...context, subject_ref });
  }
}

async function askPerson(
  { name }: Step,
  stage: 'input' | 'output',
  reason: string,
  { order, superior, budget, subject_ref, note }: GuardContext & { readonly subject_ref: Ref },
): Promise<Guarded> {
  const { delegation_id, agent_id } = order.delegation;
  const [answer] = await askSuperior(
    order,
    { superior, budget },
    {
      escalation_id: delegation_id,
      agent_id,
      kind: 'approval',
      questions: [guardQuestion({ name, stage, reason, subject_ref, delegation_id })],
    },
  );
  if (!mayPassGuard(answer)) {
    return { type: 'blocked', reason: `the guardrail "${name}" was not overruled: ${reason}` };
  }
  note(`${name}: ${answer?.answered_by ?? ''} let the ${stage} pass.`);
  return { type: 'passed', subject_ref };
}
