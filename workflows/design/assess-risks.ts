import type { DesignMaterial, DesignReplyOutline } from '../../contracts/design.ts';
import type { TurnInput } from '../../contracts/model-turn.ts';
import { designAgentIds } from '../../contracts/names.ts';
import { engineLimits } from '../../core/limits.ts';
import { cleanLine } from '../../core/text/cut-text.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { readingOf, takeRead, researchWeb } from '../execution/call-tools.ts';
import { admitPlan, findResearch, keepResearch } from '../shared/activities.ts';
import { nowSeconds } from '../shared/clock.ts';
import { readOn } from '../shared/conversation.ts';
import type { Conversation } from '../shared/conversation.ts';
import { shareBudget } from '../shared/share-budget.ts';
import type { MemberBudget } from '../shared/share-budget.ts';
import { askStage, releaseShare } from './ask-stage.ts';
import type { StageRequest } from './ask-stage.ts';
import { askUser, inParallel, materialsOf, statusOfEnd, takeStep } from './design-context.ts';
import type { DesignContext } from './design-context.ts';
import type { RiskOrder, RiskResult } from './run-risk-child.ts';
import { applyChange, askForChange, currentPlan } from './approve-plan.ts';
import { isToolCall } from '../execution/call-acting-tool.ts';
import type { ToolWork } from '../execution/call-acting-tool.ts';
import { callUntilDone } from '../shared/failures.ts';
import type { WebCaller } from '../execution/call-tools.ts';

/**
 * Assesses the risks of a plan before it is carried out (seed 003, "Risk Assessment Coordinator Agent", phase 1):
 * research and consultation, proofs of concept, practices in the instructions of the tasks.
 */
export async function assessRisks(
  technologies: readonly string[],
  context: DesignContext,
): Promise<void> {
  const { work, place } = context;
  const fresh = await takeFreshResearch(technologies, context);
  const known = new Set(fresh.map(({ subject }) => subject));
  const missing = technologies.filter((technology) => !known.has(technology));
  const consultations = await listConsultations(context);
  await inParallel(
    [
      ...missing.map((technology) => () => researchTechnology(technology, context)),
      ...consultations,
    ],
    place.limits.max_parallel,
  );
  await recommendProofs(context);
  if (materialsOf(work, ['research']).length > 0) await addPractices(context);
}

async function takeFreshResearch(
  technologies: readonly string[],
  context: DesignContext,
): Promise<readonly DesignMaterial[]> {
  if (technologies.length === 0) return [];
  const { research_max_age_days: max_age_days, registry_ref } = context.place;
  const { found } = await callUntilDone(context.superior, findResearch, 'find earlier research', {
    technologies,
    now: nowSeconds(),
    max_age_days,
    registry_ref,
  });
  for (const material of found) {
    // In their order.
    // oxlint-disable-next-line no-await-in-loop
    await takeStep(context, { material });
  }
  return found;
}

async function researchTechnology(technology: string, context: DesignContext): Promise<void> {
  const { ref } = await askStage(
    {
      stage: 'research',
      agent_id: designAgentIds.research,
      subject: technology,
      materials: materialsOf(context.work, ['brief']),
      plan_ref: currentPlan(context).plan_ref,
      tools: (conversation, budget) => createResearcher(technology, context, conversation, budget),
    },
    context,
  );
  await callUntilDone(context.superior, keepResearch, `keep the research on ${technology}`, {
    technology,
    ref,
    now: nowSeconds(),
  });
}

/**
 * Lets the research of a technology ask the web, where the run's file of the agent grants it. The calls have ids of their
 * own in the record: no delegation is named like them.
 */
function createResearcher(
  technology: string,
  context: DesignContext,
  conversation: Conversation,
  budget: MemberBudget,
): ReturnType<NonNullable<StageRequest['tools']>> {
  const agent_id = designAgentIds.research;
  const { place, control, superior } = context;
  const work: ToolWork = { loadedDetails: [], effects: [] };
  const delegation_id = `research/${technology.replaceAll('.', '-')}`;
  const caller: WebCaller = {
    order: { ...place, wave: 0, delegation: { delegation_id, agent_id } },
    control,
    superior,
    work,
    budget,
    onSpent(usage) {
      conversation.usage = addUsage(conversation.usage, usage);
    },
    label: (tool) => cleanLine(`${agent_id} · ${tool} ${technology}`, engineLimits.labelCharsMax),
    async ask(kind, question) {
      const release = () => releaseShare(budget, context);
      const [answer] = await askUser(context, { kind, agent_id, release }, [question]);
      return answer;
    },
  };
  return {
    reading: () => ({
      ...readingOf({ ...place, upstream: [] }, work),
      acts: false,
      researches: true,
    }),
    async runTools(calls) {
      const inputs: TurnInput[] = [];
      for (const call of calls.filter(isToolCall)) {
        const { research } = call;
        const read = takeRead(call, work);
        // What one search found may be asked for in the next.
        // oxlint-disable-next-line no-await-in-loop
        if (research !== undefined) inputs.push(await researchWeb({ ...call, research }, caller));
        else if (read !== null) inputs.push(read);
      }
      return readOn(inputs);
    },
  };
}

/** Lists a consultation of each agent of the roster that does tasks. New agents are asked as they were drafted. */
async function listConsultations(context: DesignContext): Promise<(() => Promise<void>)[]> {
  const { plan_ref, agents } = currentPlan(context);
  const { registry_ref, agents: known } = await callUntilDone(
    context.superior,
    admitPlan,
    'read the agents of the plan',
    {
      plan_ref,
      registry_ref: context.place.registry_ref,
      max_delegations: context.place.limits.max_delegations,
    },
  );
  return (
    agents
      .filter(({ role, only_answers }) => role !== 'verifier' && only_answers !== true)
      // An unknown one is a finding on the plan.
      .filter(({ agent_id }) => known.some((one) => one.agent_id === agent_id))
      .map(({ agent_name, agent_id }) => async () => {
        await askStage(
          {
            stage: 'consultation',
            agent_id,
            subject: agent_name,
            materials: materialsOf(context.work, ['interview']),
            plan_ref,
            registry_ref,
          },
          context,
        );
      })
  );
}

async function recommendProofs(context: DesignContext): Promise<void> {
  const recommended = await askStage(
    {
      stage: 'poc_recommendation',
      agent_id: designAgentIds.poc_recommendation,
      materials: materialsOf(context.work, ['brief', 'research', 'consultation']),
      plan_ref: currentPlan(context).plan_ref,
    },
    context,
  );
  if (recommended.proofs_of_concept === 0) return addRisks(recommended, context);
  await askForChange(
    {
      stage: 'poc_integration',
      agent_id: designAgentIds.poc_integration,
      materials: materialsOf(context.work, ['poc_recommendation']),
    },
    (ref) => ({ type: 'poc_integration', recommendation_ref: recommended.ref, ref }),
    context,
  );
}

/** Adds the risks of a recommendation without proofs of concept: nothing has to be placed. */
async function addRisks(
  { ref }: Pick<DesignReplyOutline, 'ref'>,
  context: DesignContext,
): Promise<void> {
  const result = await applyChange(
    { type: 'poc_integration', recommendation_ref: ref, ref: null },
    context,
  );
  if (result.type === 'changed') await takeStep(context, { plan: result.plan });
}

function addPractices(context: DesignContext): Promise<void> {
  return askForChange(
    {
      stage: 'best_practices',
      agent_id: designAgentIds.best_practices,
      materials: materialsOf(context.work, ['research']),
    },
    (ref) => ({ type: 'best_practices', ref }),
    context,
  );
}

export async function runRisk(
  { place, plan, materials, technologies, recalled }: RiskOrder,
  around: Pick<DesignContext, 'control' | 'superior' | 'work' | 'report' | 'budget'>,
): Promise<RiskResult> {
  const { work, budget } = around;
  work.plan = plan;
  work.materials = materials;
  work.recalled = recalled;
  const context: DesignContext = { ...around, place, sharing: shareBudget(budget) };
  let status: RiskResult['status'] = 'assessed';
  try {
    await assessRisks(technologies, context);
  } catch (error) {
    status = statusOfEnd(error);
  }
  return {
    status,
    plan: work.plan,
    materials: work.materials.slice(materials.length),
    plan_refs: work.planRefs,
    usage: work.usage,
    budget: budget.carry(),
  };
}
