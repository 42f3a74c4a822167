import type { DesignUse } from '../../core/design/describe-design.ts';
import { isCancellation, setHandler, workflowInfo } from '@temporalio/workflow';
import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type {
  DesignOrder,
  DesignProgress,
  FinishedStages,
  PlanOutline,
} from '../../contracts/design-run.ts';
import type { RecalledStage } from '../../contracts/design-activities.ts';
import type { DesignMaterial, DesignReplyOutline } from '../../contracts/design.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { DesignStageName } from '../../contracts/names.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { Usage } from '../../contracts/usage.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { Budget } from '../shared/budget.ts';
import { designStatusQuery } from '../shared/messages.ts';
import type { Control } from '../shared/control.ts';
import type { Conversation } from '../shared/conversation.ts';
import type { SharedBudget } from '../shared/share-budget.ts';
import type { Superior } from '../shared/superior.ts';
import { stopWhenCancelled } from '../shared/failures.ts';

/** Part of an order that every stage of a design needs. */
export type DesignPlace = Pick<
  DesignOrder,
  | 'run_id'
  | 'record_ref'
  | 'registry_ref'
  | 'limits'
  | 'amendments'
  | 'research_max_age_days'
  | 'designed_at'
  | 'first_plan_ref'
>;

/** Everything that a design or a risk assessment works with. */
export interface DesignContext {
  readonly place: DesignPlace;
  readonly control: Control;
  readonly superior: Superior;
  /** Budget of the whole workflow. Only its shares are spent. */
  readonly budget: Budget;
  readonly sharing: SharedBudget;
  readonly work: DesignWork;
  /** Called after each stage and each change of the plan. */
  readonly report: (progress: DesignProgress) => Promise<void>;
}

/** Work of an earlier attempt that the record of the run has: it is neither bought nor reported again. */
export interface RecalledWork {
  /** Oldest first. */
  readonly stages: readonly RecalledStage[];
  /** Versions of the plan that follow from the stages, oldest first. */
  readonly plan_refs: readonly Ref[];
}

export const noRecalledWork: RecalledWork = { stages: [], plan_refs: [] };

export interface DesignWork {
  /** Results of the finished stages, in the order in which they came. */
  materials: readonly DesignMaterial[];
  /** Null before it is assembled. */
  plan: PlanOutline | null;
  /** Every version of the plan that was made here. */
  planRefs: readonly Ref[];
  findings: readonly PlanFinding[];
  /** Work that was lost with an earlier attempt and is not taken over yet. */
  recalled: RecalledWork;
  /** Use of conversations that have ended. */
  usage: Usage;
  /** Use that the risk assessment at work has reported. */
  usageBelow: Usage;
  /** Milliseconds of all conversations together, without waits for the user. */
  workedMs: number;
  /** Running conversations, each with its stage for people: `research: PostgreSQL`. */
  readonly talks: Map<Conversation, string>;
  /** Number of escalations so far; the next one gets the next number. */
  escalations: number;
}

export function beginDesignWork(): DesignWork {
  return {
    materials: [],
    plan: null,
    planRefs: [],
    findings: [],
    recalled: noRecalledWork,
    usage: noUsage,
    usageBelow: noUsage,
    workedMs: 0,
    talks: new Map(),
    escalations: 0,
  };
}

/** Answers the query `status` of a design that a run started. */
export function answerStatus({ talks }: Pick<DesignWork, 'talks'>): void {
  setHandler(designStatusQuery, () => ({ stages_at_work: [...talks.values()] }), {
    description: 'The stages at work.',
  });
}

/** Sums the use of conversations that have ended and of those at work. */
export function designUsage({ usage, usageBelow, talks }: DesignWork): Usage {
  return addUsage(usage, usageBelow, ...[...talks.keys()].map((talk) => talk.usage));
}

/** Returns the use from which that of the work is estimated. */
export function designUse(work: DesignWork): DesignUse {
  return { usage: designUsage(work), worked_ms: work.workedMs };
}

/** Ends a design before it is approved. Thrown by a stage, and caught where the design began. */
export class DesignEnded extends Error {
  readonly status: 'stopped' | 'abandoned' | 'finished';
  constructor(status: DesignEnded['status']) {
    super(`The design is ${status}.`);
    this.status = status;
  }
}

/** @returns the status of a design that was ended or cancelled; throws every other error. */
export function statusOfEnd(error: unknown): DesignEnded['status'] {
  if (error instanceof DesignEnded) return error.status;
  if (isCancellation(error)) return 'stopped';
  throw error;
}

/** Returns the newest results of these stages, in the order in which they came. */
export function materialsOf(
  { materials }: Pick<DesignWork, 'materials'>,
  stages: readonly DesignStageName[],
): readonly DesignMaterial[] {
  const newest = new Map(materials.map((one) => [`${one.stage} ${one.subject ?? ''}`, one]));
  return [...newest.values()].filter(({ stage }) => stages.includes(stage));
}

/** Returns the newest results of the stages that say why and how the plan changes after the work on a task. */
export function changesOf(
  task_id: string,
  work: Pick<DesignWork, 'materials'>,
): readonly DesignMaterial[] {
  return materialsOf(work, ['poc_decision', 'loop_analysis', 'adaptation']).filter(
    ({ subject }) => subject === task_id,
  );
}

/** Takes the oldest result that a stage has from an earlier attempt. @returns undefined when there is none. */
export function takeRecalled(
  work: Pick<DesignWork, 'recalled'>,
  stage: DesignStageName,
  subject: string | null,
): DesignReplyOutline | undefined {
  const { stages } = work.recalled;
  const found = stages.find((one) => one.reply.stage === stage && one.subject === subject);
  work.recalled = { ...work.recalled, stages: stages.filter((one) => one !== found) };
  return found?.reply;
}

/** Takes versions of the plan. @returns those that no earlier attempt reported. */
export function dropRecalledPlans(
  work: Pick<DesignWork, 'recalled'>,
  refs: readonly Ref[],
): readonly Ref[] {
  const known = work.recalled.plan_refs;
  const same = refs.findIndex((ref, at) => ref !== known[at]);
  const count = same === -1 ? refs.length : same;
  // A plan that differs from the one before leads to others.
  const left = count < refs.length ? [] : known.slice(count);
  work.recalled = { ...work.recalled, plan_refs: left };
  return refs.slice(count);
}

/**
 * Takes a result of a stage, a version of the plan, or both, and reports what the run does not know.
 *
 * @param step.isRecalled True for a result of an earlier attempt.
 */
export async function takeStep(
  context: DesignContext,
  step: {
    readonly material?: DesignMaterial;
    readonly isRecalled?: boolean;
    readonly plan?: PlanOutline;
  },
): Promise<void> {
  const { work } = context;
  const { material, plan, isRecalled = false } = step;
  if (material !== undefined) work.materials = [...work.materials, material];
  const isNew = plan !== undefined && plan.plan_ref !== work.plan?.plan_ref;
  const made = isNew ? [plan.plan_ref] : [];
  work.plan = plan ?? work.plan;
  work.planRefs = [...work.planRefs, ...made];
  const materials = material === undefined || isRecalled ? [] : [material];
  const plan_refs = dropRecalledPlans(work, made);
  if (materials.length + plan_refs.length > 0) await reportSteps(context, { materials, plan_refs });
}

/** Reports finished stages and versions of the plan. */
export function reportSteps(
  { work, report }: Pick<DesignContext, 'work' | 'report'>,
  steps: FinishedStages,
): Promise<void> {
  return report({
    ...steps,
    status: 'designing',
    findings: work.findings,
    approved_by: null,
    usage: designUsage(work),
  });
}

/** Puts questions to the user. @throws DesignEnded when the design was cancelled while it waited. */
export async function askUser(
  { superior, work }: Pick<DesignContext, 'superior' | 'work'>,
  asker: {
    readonly kind: QuestionKind;
    readonly agent_id: string | null;
    /** Returns what the asker has spent, after it gave the rest of its share back. */
    readonly release: () => ReturnType<Budget['release']>;
  },
  questions: readonly AskedQuestion[],
): Promise<readonly DeliveredAnswer[]> {
  work.escalations += 1;
  const escalation_id = `design#${work.escalations}`;
  const spent = asker.release();
  const answers = await stopWhenCancelled(() =>
    superior.ask({
      type: 'questions',
      escalation_id,
      from: workflowInfo().workflowId,
      kind: asker.kind,
      wave: 0,
      delegation_id: null,
      agent_id: asker.agent_id,
      questions,
      ...(spent !== undefined && { spent }),
    }),
  );
  if (answers === null) throw new DesignEnded('stopped');
  return answers;
}

/** Does works at the same time, at most `max` of them. All have ended when it resolves or throws. */
export async function inParallel<T>(
  works: readonly (() => Promise<T>)[],
  max: number,
): Promise<T[]> {
  const left = works.map((work, at) => ({ work, at }));
  const results: { readonly at: number; readonly result: T }[] = [];
  const takeOne = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      // One after the other in each of the lanes.
      // oxlint-disable-next-line no-await-in-loop
      results.push({ at: next.at, result: await next.work() });
    }
  };
  const ends = await Promise.allSettled(
    Array.from({ length: Math.min(max, works.length) }, takeOne),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return results.toSorted((a, b) => a.at - b.at).map(({ result }) => result);
}
