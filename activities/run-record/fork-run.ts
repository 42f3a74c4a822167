import type { ForkOffer, ForkPoint } from '../../contracts/fork.ts';
import type { Taint } from '../../contracts/agent-definition.ts';
import type { OpenRunResult } from '../../contracts/activity-types.ts';
import type { PlanOutline } from '../../contracts/design-run.ts';
import type { CarriedInbox, TakenOver } from '../../contracts/planner-run.ts';
import type { RunRecord, StoredWave } from '../../contracts/run-record.ts';
import { questionNumber } from '../../core/ids.ts';
import { definedOnly, isRecord } from '../../core/json.ts';
import { engineLimits } from '../../core/limits.ts';
import { applyRuleOfTwo } from '../../core/plan/rule-of-two.ts';
import { chooseStale } from '../../core/pool/mark-stale.ts';
import { acceptAnswer } from '../../core/questions/judge-answer.ts';
import { settleCrashed } from '../../core/run/crashed-tasks.ts';
import { summariseWave } from '../../core/run/decide-next-step.ts';
import { explainNoFork, isAfterFork, sumReused } from '../../core/run/fork-record.ts';
import { noUsage, subtractUsage, addUsage } from '../../core/usage/add-usage.ts';
import { readCoordinationPlan, storeCoordinationPlan } from '../artifacts/read-reports.ts';
import { readJson, readRegistry } from '../artifacts/read-artifact.ts';
import { readRecordBefore, readRecord } from '../artifacts/record-log.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import { loadTexts, textOf, type RecordTexts } from '../projection/record-texts.ts';
import { planRefOf } from '../projection/render-design.ts';
import { propertiesOf } from '../tools/mcp/expand-grants.ts';
import type { RecordDeps } from './deps.ts';
import { createInvalidInput } from './describe-input-issues.ts';
import { UnknownRun } from './export-run.ts';
import { summariseAgent } from './load-registry.ts';
import { shortenFact } from './update-record.ts';
import { outlinePlan } from '../../core/plan/check-repetition.ts';

type ForkDeps = Pick<RecordDeps, 'store' | 'index'>;

/** A run can't be forked there. The message says why, and what to do instead. */
export class NoFork extends Error {
  override readonly name = 'NoFork';
}

/** The store has no such run. */
export class NoRunToFork extends NoFork {
  constructor(runId: string, known: readonly string[]) {
    const { message } = new UnknownRun(runId, known);
    super(`${message} It may be in another store, or was pruned.`);
  }
}

/**
 * Reads the record of a run as it was before a wave.
 *
 * @throws {NoRunToFork} when there is no such run.
 * @throws {NoFork} when there is no such wave, or when the run's record can't be read here.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function readForkPoint(
  deps: ForkDeps,
  { run_id, wave }: Pick<ForkPoint, 'run_id' | 'wave'>,
): Promise<{ readonly before: RunRecord; readonly newest: RunRecord }> {
  const { ref } = await deps.index.read(run_id);
  if (ref === null) throw new NoRunToFork(run_id, await deps.index.list());
  try {
    const newest = await readRecord(deps.store, ref);
    const before = await readRecordBefore(deps.store, ref, (event) => isAfterFork(event, wave));
    const reason = explainNoFork(before, newest, wave);
    if (reason !== null) throw new NoFork(reason);
    return { before, newest };
  } catch (error) {
    if (!(error instanceof ArtifactCorrupt)) throw error;
    throw new NoFork(`The record of ${run_id} can't be read here: ${error.message}`);
  }
}

/** @throws like `readForkPoint`. */
export async function offerFork(
  deps: ForkDeps,
  point: Pick<ForkPoint, 'run_id' | 'wave'>,
): Promise<ForkOffer> {
  const { before, newest } = await readForkPoint(deps, point);
  const usage = sumReused(before);
  const paid = addUsage(newest.origin?.reused ?? noUsage, newest.usage);
  return {
    input: await readInputOf(deps, newest),
    reused: { delegations: countWork(before.waves), usage },
    rest: {
      delegations: countWork(newest.waves) - countWork(before.waves),
      usage: subtractUsage(paid, usage),
      ended: newest.status !== null,
    },
  };
}

function countWork(waves: readonly StoredWave[]): number {
  return waves.reduce((sum, { outcomes }) => sum + outcomes.length, 0);
}

async function readInputOf({ store }: ForkDeps, record: RunRecord): Promise<ForkOffer['input']> {
  const { goal, constraints, language, workspace_dir, changes, input_ref, load } = record;
  const typed = input_ref === undefined ? null : await readJson(store, input_ref);
  // The start command may have given them.
  const place = definedOnly({ priority: load?.priority, tenant: load?.tenant });
  if (isRecord(typed)) return { ...place, ...typed };
  return {
    ...place,
    goal,
    ...(constraints.length > 0 && { constraints }),
    ...definedOnly({ language, workspace_dir, changes }),
  };
}

/** Everything that `openRun` adds for a fork to what it returns. */
export interface OpenedFork {
  readonly from: ForkPoint;
  /** The record of the other run before the wave. */
  readonly before: RunRecord;
  readonly taken_over: TakenOver;
  /** The approved plan of the other run; null without one. */
  readonly plan: PlanOutline | null;
}

/**
 * Collects what the workflow of a fork needs of the other run.
 *
 * @throws InvalidInput when the run can't be forked there.
 * @throws {ArtifactCorrupt} when a plan or a decision is missing or damaged.
 */
export async function openFork(
  deps: ForkDeps & Pick<RecordDeps, 'toolProperties'>,
  from: ForkPoint,
): Promise<OpenedFork> {
  const { wave, instruction } = from;
  const { before } = await readForkPoint(deps, from).catch((error: unknown) => {
    if (!(error instanceof NoFork)) throw error;
    throw createInvalidInput('plannerRun', [{ path: 'from', reason: error.message }]);
  });
  const { waves, stale, facts, criteria, instructions, answered_questions, mode } = before;
  const texts = await loadTexts(deps.store, [
    { plans: waves.map((one) => one.plan_ref), decisions: waves.map((one) => one.decision_ref) },
  ]);
  const taint = await findTaint(deps, before, texts);
  const planRef = before.design?.status === 'approved' ? planRefOf(before) : null;
  const plan = planRef === null ? null : await readCoordinationPlan(deps.store, planRef);
  return {
    from,
    before,
    plan: plan === null ? null : await storeCoordinationPlan(deps.store, plan),
    taken_over: {
      wave: wave - 1,
      delegation_ids: waves.flatMap(({ outcomes }) => outcomes.map((one) => one.delegation_id)),
      fingerprints: countFingerprints(waves, texts),
      ...(taint !== undefined && { taint }),
      stale: chooseStale(stale).map(({ delegation_id }) => delegation_id),
      facts_total: facts.length,
      recent_facts: facts.slice(-engineLimits.factsCarriedMax).map(shortenFact),
      wave_outlines: waves.map(({ wave: number, decision_ref, outcomes }) => {
        const decision = decision_ref === null ? null : textOf(texts.decisions, decision_ref);
        const io_status = decision?.planner_decision.io_status ?? null;
        return summariseWave({ wave: number, io_status, usage: noUsage }, outcomes, criteria);
      }),
      amendments: instructions.slice(-engineLimits.amendmentsMax),
      waived: criteria.flatMap(({ criterion_id, state }) =>
        state === 'waived' ? [criterion_id] : [],
      ),
      ...(mode !== undefined && { mode_chosen: mode }),
      ...readAnswers(before),
      recent_answers: answered_questions
        .slice(-engineLimits.recentAnswersMax)
        .map(({ answer_ref: _ref, question: _question, amended_at: _at, ...answered }) => answered),
      ...(instruction !== undefined && { instruction }),
      ...(plan !== null && takeUnjudged(before)),
    },
  };
}

/** The other run may have ended at the question about its last proof of concept, or about a task that crashed. */
function takeUnjudged(before: RunRecord): Pick<TakenOver, 'unjudged' | 'again'> {
  const { crashed, again } = settleCrashed(before);
  return { unjudged: { crashed }, ...(again.length > 0 && { again }) };
}

/** Takes the answers over as an inbox has them, so that evidence may name them and the user may change them. */
function readAnswers({
  answered_questions: all,
  open_questions,
}: RunRecord): Pick<TakenOver, 'answered' | 'next_question'> {
  const answered: Record<string, CarriedInbox['answered'][string]> = {};
  for (const { question_id, question, answer, answered_by, answered_at } of all) {
    if (question === null) continue;
    answered[question_id] = acceptAnswer(question, answer, { answered_by, now: answered_at });
  }
  // Questions that were withdrawn are in neither list, so the ids have gaps.
  const numbers = [...all, ...open_questions].map((one) => questionNumber(one.question_id));
  return { answered, next_question: 1 + Math.max(0, ...numbers) };
}

function countFingerprints(
  waves: readonly StoredWave[],
  texts: RecordTexts,
): Readonly<Record<string, number>> {
  const counted: Record<string, number> = {};
  for (const { plan_ref, outcomes } of waves) {
    if (plan_ref === null) continue;
    const { delegations } = outlinePlan(textOf(texts.plans, plan_ref), plan_ref);
    for (const { delegation_id, fingerprint } of delegations) {
      const outcome = outcomes.find((one) => one.delegation_id === delegation_id);
      if (outcome === undefined || outcome.status === 'skipped') continue;
      counted[fingerprint] = (counted[fingerprint] ?? 0) + 1;
    }
  }
  return counted;
}

/** Finds what the results bring along, by the agents of the other run. Work of one that is not known brings everything. */
async function findTaint(
  { store, toolProperties }: Pick<RecordDeps, 'store' | 'toolProperties'>,
  { waves, registry_ref, run_id }: RunRecord,
  texts: RecordTexts,
): Promise<Taint | undefined> {
  const { agents, mcp_tools = [] } = await readRegistry(store, registry_ref);
  const properties = { ...toolProperties, ...propertiesOf(mcp_tools) };
  const known = agents.map((agent) => summariseAgent(agent, properties));
  const ids = new Set(agents.map(({ agent_id }) => agent_id));
  const source = `work of ${run_id}`;
  const brings = { untrusted_text: source, private_data: source };
  let taint: Taint | undefined;
  for (const { plan_ref } of waves) {
    if (plan_ref === null) continue;
    const plan = outlinePlan(textOf(texts.plans, plan_ref), plan_ref);
    const unknown = plan.delegations
      .filter(({ agent_id }) => !ids.has(agent_id))
      .map(({ agent_id }) => ({
        agent_id,
        allowed_tools: [],
        risk_level: 'high' as const,
        brings,
      }));
    const context = { agents: [...known, ...unknown], teams: null };
    ({ taint } = applyRuleOfTwo(plan, { ...context, ...(taint !== undefined && { taint }) }));
  }
  return taint;
}

/** Adds to an opened run what it takes over, if it goes on from another one. */
export function withFork(opened: OpenRunResult, fork: OpenedFork | null): OpenRunResult {
  if (fork === null) return opened;
  const { taken_over, plan } = fork;
  const { design } = opened;
  const carriesOut = design !== undefined && plan !== null && { design: { ...design, plan } };
  return { ...opened, taken_over, ...carriesOut };
}
