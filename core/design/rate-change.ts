/**
 * Rates a change of a plan during the work: who has to agree before it holds (seed 003, "Why Route Through Escalation
 * Resolution Agent").
 *
 * Invariants:
 *   RPC1. A change of instructions alone is not significant; every other change of a task, an agent or a file is.
 *   RPC2. Scope has changed when evidence is left out, says something else or is no longer checked by code as before, or
 *        when an agent is drafted; cost, when there are more tasks than before.
 *   RPC3. What is verified stays as it is: no change may remove or change it.
 *   RPC4. After the change no task waits for a proof of concept that has failed and stayed as it was.
 *   RPC5. A change that follows from a failed proof of concept or a wish of the user changes something.
 *   RPC6. An agent that the change leaves without work leaves the roster, and its draft the plan. One that gets work again
 *        before the change holds is back.
 */
import type { PlanChangeRating, ProofReview } from '../../contracts/adaptation.ts';
import type {
  CoordinationPlan,
  NewAgent,
  PlanFinding,
  PlanTask,
  ProofOfConcept,
} from '../../contracts/coordination-plan.ts';
import type { Ref } from '../../contracts/ref.ts';
import { cutText, normaliseText } from '../text/cut-text.ts';
import { commandText } from '../text/format.ts';
import { oneLine } from '../text/markdown.ts';
import {
  describeDrafts,
  estimatePlan,
  formatEstimate,
  keepEnd,
  type DesignUse,
} from './describe-design.ts';
import { listUpstream } from './graph.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { hashText } from '../text/hash-text.ts';

export function ratePlanChange(
  before: CoordinationPlan,
  after: CoordinationPlan,
): PlanChangeRating {
  const earlier = new Map(before.tasks.map((task) => [task.task_id, task]));
  const later = new Set(after.tasks.map(({ task_id }) => task_id));
  const changed = after.tasks.filter((task) => !isSame(earlier.get(task.task_id), task));
  const removed_tasks = [...earlier.keys()].filter((task_id) => !later.has(task_id));
  const kept = evidenceOf(after);
  const removed_evidence = [...evidenceOf(before).keys()].filter((id) => !kept.has(id));
  const reworded_evidence = listReworded(before, after);
  const isNew = ({ task_id }: PlanTask): boolean => !earlier.has(task_id);
  return {
    changed_tasks: changed.map(({ task_id }) => task_id),
    removed_tasks,
    removed_evidence,
    reworded_evidence,
    significant:
      removed_tasks.length > 0 ||
      JSON.stringify([before.agents, before.new_agents]) !==
        JSON.stringify([after.agents, after.new_agents]) ||
      changed.some((task) => !isSame(withText(earlier.get(task.task_id)), withText(task))),
    scope_changed:
      removed_evidence.length > 0 ||
      reworded_evidence.length > 0 ||
      listDrafted(before, after).length > 0,
    cost_changed: changed.filter(isNew).length > removed_tasks.length,
  };
}

/** Lists the drafts of agents that are new or say something else: each joins the run only with the user's approval. */
function listDrafted(before: CoordinationPlan, after: CoordinationPlan): NewAgent[] {
  const known = new Set(before.new_agents.map((draft) => JSON.stringify(draft)));
  return after.new_agents.filter((draft) => !known.has(JSON.stringify(draft)));
}

type Evidence = PlanTask['validation']['evidence'][number];

function evidenceOf({ tasks }: CoordinationPlan): ReadonlyMap<string, Evidence> {
  const all = tasks.flatMap(({ validation }) => validation.evidence);
  return new Map(all.map((one) => [one.evidence_id, one]));
}

/** Lists the evidence that both versions require, and that says something else or is checked otherwise. */
function listReworded(before: CoordinationPlan, after: CoordinationPlan): string[] {
  const earlier = evidenceOf(before);
  return [...evidenceOf(after).values()].flatMap(({ evidence_id, description, check }) => {
    const old = earlier.get(evidence_id);
    if (old === undefined) return [];
    const isKept =
      old.description.trim() === description.trim() &&
      (old.check === undefined || JSON.stringify(old.check) === JSON.stringify(check));
    return isKept ? [] : [evidence_id];
  });
}

function isSame(a: PlanTask | undefined, b: PlanTask | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Removes what a task says, so that only its place in the plan is compared. */
function withText(task: PlanTask | undefined): PlanTask | undefined {
  return task === undefined ? undefined : { ...task, instructions: '', title: '' };
}

interface WorkDone {
  readonly verified: readonly string[];
  readonly failed: string | null;
  readonly unwanted?: readonly CoordinationPlan[];
}

/**
 * Checks a change of the plan against the work that was done.
 *
 * @param unwanted Versions of the plan that do not mend what is to be mended. @param verified task_ids of what is verified. @param failed task_id of a proof of concept that has failed; null for none.
 */
export function checkPlanChange(
  before: CoordinationPlan,
  after: CoordinationPlan,
  { verified, failed, unwanted = [] }: WorkDone,
): PlanFinding[] {
  const later = new Map(after.tasks.map((task) => [task.task_id, task]));
  const touched = before.tasks
    .filter(({ task_id }) => verified.includes(task_id))
    .filter((task) => !isSame(task, later.get(task.task_id)));
  const isUnwanted = unwanted.some((one) => JSON.stringify(one) === JSON.stringify(after));
  return [
    ...(isUnwanted ? [unchanged] : []),
    ...touched.map(({ task_id }) =>
      finding(
        task_id,
        'it is verified, and what is verified stays as it is',
        'add a task that builds on its result',
      ),
    ),
    ...(failed === null ? [] : checkFailedProof(before, after, failed)),
  ];
}

function checkFailedProof(
  before: CoordinationPlan,
  after: CoordinationPlan,
  failed: string,
): PlanFinding[] {
  const find = ({ tasks }: CoordinationPlan): PlanTask | undefined =>
    tasks.find(({ task_id }) => task_id === failed);
  const proof = find(after);
  if (proof === undefined || !isSame(proof, find(before))) return [];
  const upstream = listUpstream(after.tasks);
  const waiting = after.tasks.filter(({ task_id }) => upstream.get(task_id)?.has(failed) === true);
  return waiting.map(({ task_id }) =>
    finding(
      task_id,
      `it waits for ${failed}, which has failed`,
      `remove ${failed}, or change what it tests`,
    ),
  );
}

const unchanged: PlanFinding = {
  rule: 'work',
  path: 'operations',
  message: 'they leave the plan as it was, which is what must change',
  cure: 'give the operations that <materials> or <requested_change> call for, such as add_task, change_instructions or remove_task',
};

function finding(task_id: string, message: string, cure: string): PlanFinding {
  return { rule: 'work', path: `tasks/${task_id}`, message, cure };
}

const reasonCharsMax = 700;

/** A change of the plan to `plan_ref`, with the work that it follows from. */
interface DescribedChange {
  readonly plan_ref: Ref;
  readonly rating: PlanChangeRating;
  /** The run, and the use of the calls that led to the change. */
  readonly question: DesignUse & { readonly run_id: string };
  /** `explanation`: empty where there is none. */
  readonly reason: { readonly task_id: string; readonly explanation: string };
}

/**
 * Describes a change for the question whether it is approved.
 *
 * @returns the text, and its last lines, which stay however long the rest is.
 */
export function describePlanChange(
  before: CoordinationPlan,
  after: CoordinationPlan,
  { plan_ref, rating, reason, question }: DescribedChange,
): { readonly text: string; readonly end: string } {
  const titleOf = (id: string): string => {
    const task = [...after.tasks, ...before.tasks].find(({ task_id }) => task_id === id);
    return oneLine(`${task?.title ?? id} (${id})`);
  };
  const isNew = (id: string): boolean => before.tasks.every(({ task_id }) => task_id !== id);
  const { changed_tasks, removed_tasks, removed_evidence, reworded_evidence } = rating;
  const list = (title: string, ids: readonly string[]): string[] =>
    ids.length === 0 ? [] : [`${title}: ${ids.map(titleOf).join('; ')}.`];
  const added = after.tasks.filter(({ task_id }) => isNew(task_id));
  const gone = before.agents
    .map(({ agent_name }) => agent_name)
    .filter((name) => after.agents.every(({ agent_name }) => agent_name !== name));
  const end = [
    ...describeDrafts(listDrafted(before, after)),
    ...(added.length === 0
      ? []
      : [
          `Expected for the new tasks: ${formatEstimate(estimatePlan({ ...after, tasks: added }, question))} that changed the plan.`,
        ]),
    `All of the new version: ${commandText('artifact', plan_ref)}`,
    `What differs: ${commandText('plan', 'diff', question.run_id, plan_ref)}`,
  ];
  const text = keepEnd(
    [
      `The plan is to change during the work, after ${titleOf(reason.task_id)}.`,
      ...(reason.explanation === ''
        ? []
        : [`Why: ${cutText(oneLine(reason.explanation), reasonCharsMax)}`]),
      ...list('New tasks', changed_tasks.filter(isNew)),
      ...list(
        'Changed tasks',
        changed_tasks.filter((id) => !isNew(id)),
      ),
      ...list('Tasks that are left out', removed_tasks),
      ...(gone.length === 0 ? [] : [`Agents that are left out: ${gone.join(', ')}.`]),
      ...(removed_evidence.length === 0
        ? []
        : [`Evidence that is given up: ${removed_evidence.join(', ')}.`]),
      ...(reworded_evidence.length === 0
        ? []
        : [`Evidence that is changed: ${reworded_evidence.join(', ')}.`]),
    ].join('\n'),
    end,
  );
  return { text, end: end.join('\n') };
}

/**
 * Compares the judged criteria of a proof of concept with those of the plan. Workflows have their keys only: the texts
 * stay in the plan and in the reply.
 *
 * Invariants:
 *   JC1. Each criterion of the task is judged exactly once, and nothing else is judged.
 *   JC2. Case, spaces and punctuation make no other criterion; success and failure do.
 *   JC3. Each fault names the place in the reply, or the criterion by its number in the plan.
 */

type JudgedCriterion = Pick<ProofReview['criteria'][number], 'kind' | 'criterion'>;

/** @returns `success:<hash>` or `failure:<hash>`. */
function keyOf({ kind, criterion }: JudgedCriterion): string {
  return `${kind}:${hashText(normaliseText(criterion))}`;
}

/** Returns the keys of a proof's criteria, each kind in the order of the plan. */
export function keysOfProof({ success_criteria, failure_criteria }: ProofOfConcept): string[] {
  return [
    ...success_criteria.map((criterion) => keyOf({ kind: 'success', criterion })),
    ...failure_criteria.map((criterion) => keyOf({ kind: 'failure', criterion })),
  ];
}

/** Returns the keys of what was judged, in the order of the reply. */
export function keysOfReview(criteria: readonly JudgedCriterion[]): string[] {
  return criteria.map(keyOf);
}

export function checkJudged(asked: readonly string[], judged: readonly string[]): OutputFault[] {
  const wrong = judged.flatMap((key, at): OutputFault[] => {
    const path = `criteria/${at}`;
    if (!asked.includes(key)) return [{ path, ...unknown }];
    return judged.indexOf(key) === at ? [] : [{ path, ...again }];
  });
  const missing = asked
    .filter((key, at) => !judged.includes(key) && asked.indexOf(key) === at)
    .map((key) => nameOf(key, asked));
  if (missing.length === 0) return wrong;
  const reason = `these criteria of the task are not judged: ${missing.join(', ')}`;
  return [...wrong, { path: 'criteria', reason, hint: 'Try: judge each of them, word for word' }];
}

const unknown = {
  reason: 'the task has no such criterion of this kind',
  hint: 'Try: copy it from success_criteria or failure_criteria of the task, word for word',
};
const again = { reason: 'it is judged twice', hint: 'Try: judge each criterion once' };

/** @returns `success criterion 2`, as the plan counts. */
function nameOf(key: string, asked: readonly string[]): string {
  const [kind = ''] = key.split(':', 1);
  const same = asked.filter((one) => one.startsWith(`${kind}:`));
  return `${kind} criterion ${same.indexOf(key) + 1}`;
}
