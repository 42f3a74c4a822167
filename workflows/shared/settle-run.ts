import { CancellationScope, condition, sleep } from '@temporalio/workflow';
import type { DeliveredAnswer, NewsItem } from '../../contracts/messages.ts';
import type { LoneAnswer, PlannerRunResult, RunStatus } from '../../contracts/planner-run.ts';
import { applyRunChanges, proposeChanges, recallRunSpent } from './activities.ts';
import type { RootHost } from './root-host.ts';
import type { Superior } from './superior.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { WaveOrder, WaveResult } from '../../contracts/planner-wave.ts';
import { isDone } from '../../core/criteria/criteria.ts';
import { amendUnread, onlyWaives } from '../../core/run/check-control.ts';
import { explainCriteria } from '../../core/run/settle-wave.ts';
import type { KnownSpent, Usage } from '../../contracts/usage.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { knownSpent } from './root-state.ts';
import { changesQuestion } from '../../core/workspace/run-changes.ts';
import { callUntilDone, stopWhenCancelled } from './failures.ts';
import type { ApplyChangesResult, ProposedChanges } from '../../contracts/effect.ts';
import type { ChangesMode } from '../../contracts/limits.ts';

/**
 * Brings the changes of a run's agents into the user's folder, once, at its end: by the mode of the input, or as the user
 * answers. Whatever the end, the record says what became of them.
 *
 * @param mayGoOn True for a run that can plan once more. If undefined, it ends here: instructions are refused from now on.
 * @returns false when the user told such a run something before they were settled: it goes on, and nothing was changed.
 */
export async function settleChanges(
  host: RootHost,
  status: RunStatus,
  mayGoOn = false,
): Promise<boolean> {
  if (!mayGoOn) host.state.closing = true;
  const mode = host.state.opened?.changes;
  if (mode === undefined || mode === 'direct') return true;
  const heard = host.state.news.from_user;
  const isTold = (): boolean => mayGoOn && host.state.news.from_user > heard;
  return CancellationScope.nonCancellable(async () => {
    const place = { run_id: host.runId, record_ref: await host.settleRecord() };
    const proposed = await callUntilDone(host, proposeChanges, 'sum up the changes', place);
    const hasResult = status === 'completed' || status === 'finished_unmet';
    if (proposed === null) return !(hasResult && isTold());
    const choice = hasResult ? await choose(host, mode, proposed, isTold) : 'keep';
    if (choice === 'go_on') return false;
    host.state.closing = true;
    const settled: ApplyChangesResult =
      choice === 'keep'
        ? { state: 'kept', note: proposed.obstacle }
        : await callUntilDone(host, applyRunChanges, `${choice} the changes`, {
            ...place,
            commit: choice === 'commit',
            goal_title: host.state.goal_title,
            at: host.state.started_at,
          });
    const { can_commit: _can, patch_shown: _shown, obstacle: _obstacle, ...sums } = proposed;
    host.record.add({ type: 'changes_settled', changes: { ...sums, ...settled } });
    return true;
  });
}

type Choice = 'apply' | 'commit' | 'keep';

/** A person who does not answer, and one who stops the run, keeps the changes. */
async function choose(
  host: RootHost,
  mode: Exclude<ChangesMode, 'direct'>,
  proposed: ProposedChanges,
  isTold: () => boolean,
): Promise<Choice | 'go_on'> {
  if (isTold()) return 'go_on';
  if (mode !== 'ask') return mode;
  if (proposed.obstacle !== '') return 'keep';
  const answers = await stopWhenCancelled(() =>
    host.stoppable(() => askUntilTold(host, proposed, isTold)),
  );
  if (answers === null) return 'keep';
  if (isTold()) return 'go_on';
  const [answer] = answers;
  if (answer === undefined || answer.loop) return 'keep';
  return answer.answer === 'apply' || answer.answer === 'commit' ? answer.answer : 'keep';
}

/** Asks for the choice, and withdraws the question when the user tells the run something else. @returns no answer then. */
async function askUntilTold(
  host: RootHost,
  proposed: ProposedChanges,
  isTold: () => boolean,
): Promise<readonly DeliveredAnswer[]> {
  const { wave } = host.state;
  const slot: { answers: readonly DeliveredAnswer[] | null } = { answers: null };
  const asking = new CancellationScope();
  const asked = asking.run(async () => {
    slot.answers = await host.ask({
      type: 'questions',
      escalation_id: `changes-${wave}#${host.inbox.carry().next_question}`,
      from: host.runId,
      kind: 'changes',
      wave,
      delegation_id: null,
      agent_id: null,
      questions: [changesQuestion(proposed)],
    });
  });
  void asked.catch(() => {});
  await condition(() => slot.answers !== null || isTold());
  if (slot.answers === null && isTold()) {
    host.inbox.withdraw({ from: host.runId, delegation_id: null });
    asking.cancel();
    return [];
  }
  await condition(() => slot.answers !== null);
  return slot.answers ?? [];
}

/**
 * Records and ends a wave or a delegation that was started by hand, as a run of one wave.
 *
 * @param heard Id of the newest news item that its calls were told. Default: they are taken to have been told all.
 * @returns the fields beside its own outcome.
 */
export async function finishAlone(
  host: RootHost,
  wave: WaveResult,
  heard = Infinity,
): Promise<LoneAnswer> {
  host.takeWave(wave);
  refuseUnread(host, heard);
  await settleChanges(host, statusOf(wave));
  return toLoneAnswer(await host.finish(statusOf(wave), explainCriteria(wave.outcomes)));
}

/** Says of what the user told a part during its last call that no call has read it. */
function refuseUnread(host: RootHost, heard: number): void {
  for (const what of host.news.since(heard).flatMap(wordsOf)) host.refuse(amendUnread(what));
}

/** Returns what a call would have had to read of a news item; nothing of one that leaves the work as it is. */
function wordsOf(one: NewsItem): string[] {
  if (one.type === 'instruction') return onlyWaives(one) ? [] : [one.instruction];
  return one.changed ? [`${one.question_id}: ${one.answer}`] : [];
}

/** Picks what a part that was started by hand returns beside its own outcome. */
export function toLoneAnswer({
  answer,
  result_path,
  report_path,
  stop_reason,
}: PlannerRunResult): LoneAnswer {
  return { answer, result_path, report_path, ...(stop_reason !== undefined && { stop_reason }) };
}

function statusOf(wave: WaveResult): RunStatus {
  if (wave.status === 'stopped' || wave.status === 'abandoned') return wave.status;
  const isOver = isDone(wave.criteria) || wave.outcomes.some(isHandedOver);
  return isOver ? 'completed' : 'finished_unmet';
}

/** A phase of a triad that was started alone is done with a summary; the criteria are for the phases after it. */
export function isHandedOver({ status, output_ref }: DelegationOutcome): boolean {
  return status === 'completed' && output_ref === null;
}

/**
 * Longer than a heartbeat of a model call may take: an attempt whose workflow is gone learns it within that time and sends
 * nothing after it.
 */
const lastRequestMs = 10_000;

/** A part of a run whose end nobody told. */
interface Lost extends KnownSpent {
  /** Workflow id of the part, or of the whole run. */
  readonly place: string;
  /** True when a budget depends on it. Then requests that may still be on their way are waited for. */
  readonly isLimited: boolean;
  readonly park: (reason: string) => Promise<void>;
}

/**
 * Returns what a part of a run used beyond what is known: from the reply ledger, which has each call whatever became of the
 * workflow that made it. Is not cancelled: what was spent must be known at the end too.
 */
export function recallLost({ place, usage, since, isLimited, park }: Lost): Promise<Usage> {
  return CancellationScope.nonCancellable(async () => {
    if (isLimited) await sleep(lastRequestMs);
    return recallMissed({ place, usage, since, park });
  });
}

/** Returns what a wave or a design of the run used that ended without a report. */
export function recallLostPart(host: RootHost): Promise<Usage> {
  const { runId, state } = host;
  return recallLost({
    place: runId,
    ...knownSpent(state),
    isLimited: state.budget !== null,
    park: (reason) => host.park(reason),
  });
}

/**
 * Returns what the run has spent and does not know of: a reset took back what it was told. Asked by a wave or a design
 * itself, which is started anew after a reset to any moment before it.
 */
export async function recallBefore(
  { run_id, spent }: Pick<WaveOrder, 'run_id' | 'spent'>,
  { park }: Pick<Superior, 'park'>,
): Promise<Usage> {
  return spent === undefined ? noUsage : recallMissed({ place: run_id, ...spent, park });
}

/**
 * Returns what the run itself has spent and does not know of, before it makes calls. Nothing when nothing is limited.
 */
export async function recallOwn(host: RootHost): Promise<Usage> {
  const { runId, state } = host;
  if (state.budget === null) return noUsage;
  const park = (reason: string): Promise<void> => host.park(reason);
  return recallMissed({ place: runId, ...knownSpent(state), park });
}

/** Counts what a part that was started by hand has spent before it was reset to its beginning. */
export async function recallAlone(host: RootHost): Promise<void> {
  host.state.usage = await CancellationScope.nonCancellable(() => recallOwn(host));
}

/** Returns what was spent below a place beyond what is known, as after a reset. */
async function recallMissed({
  place,
  usage,
  since,
  park,
}: Omit<Lost, 'isLimited'>): Promise<Usage> {
  const asked = { place, since, known: usage };
  const summary = `what ${place} has spent`;
  return (await callUntilDone({ park }, recallRunSpent, summary, asked)).missed;
}
