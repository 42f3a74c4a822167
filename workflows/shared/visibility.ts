import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
} from '@temporalio/common';
import {
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  ChildWorkflowCancellationType,
} from '@temporalio/workflow';
import { memoKeys } from '../../contracts/names.ts';
import type { StoreIdentity } from '../../contracts/store.ts';
import type { RunPhase } from '../../contracts/views.ts';
import { dateOf } from './clock.ts';
import type { ChildWorkflowOptions } from '@temporalio/workflow';
import type { RunLoad } from '../../contracts/limits.ts';

/** State that stays readable while every worker is off: in `temporal workflow list`, the Web UI's list and describe. */
interface Visible {
  readonly run_id: string;
  readonly goal_title: string;
  readonly phase: RunPhase;
  readonly wave: number;
  readonly open_questions: number;
  /** Unix epoch seconds at which the longest-waiting question was asked; null when none is open. */
  readonly oldest_question_at: number | null;
  readonly cost_micro_usd: number;
  /** The first wait in one line, or empty. */
  readonly waiting_for: string;
  /** Defined in StatusView. */
  readonly store: StoreIdentity | undefined;
  /** Defined in StatusView. */
  readonly load: RunLoad | undefined;
}

const keys = {
  phase: defineSearchAttributeKey('PlanwavePhase', SearchAttributeType.KEYWORD),
  wave: defineSearchAttributeKey('PlanwaveWave', SearchAttributeType.INT),
  openQuestions: defineSearchAttributeKey('PlanwaveOpenQuestions', SearchAttributeType.INT),
  oldestQuestion: defineSearchAttributeKey('PlanwaveOldestQuestion', SearchAttributeType.DATETIME),
  costUsd: defineSearchAttributeKey('PlanwaveCostUsd', SearchAttributeType.DOUBLE),
  run: defineSearchAttributeKey('PlanwaveRun', SearchAttributeType.KEYWORD),
} as const;

/**
 * Mirrors a run's state to memo and search attributes. Each upsert is an event in history, so only changes are written.
 *
 * @returns a function to call after every change.
 */
export function createMirror(): (visible: Visible, details: string) => void {
  const written = new Map<string, string>();
  const keepChanged = (name: string, value: unknown): boolean => {
    const text = JSON.stringify(value);
    if (written.get(name) === text) return false;
    written.set(name, text);
    return true;
  };
  return (visible, details) => {
    setCurrentDetails(details);
    const attributes = attributesOf(visible).filter(({ key, value }) =>
      keepChanged(key.name, value),
    );
    if (attributes.length > 0) upsertSearchAttributes(attributes);
    const memo = Object.entries(memoOf(visible)).filter(([name, value]) =>
      keepChanged(`memo.${name}`, value),
    );
    if (memo.length > 0) upsertMemo(Object.fromEntries(memo));
  };
}

function attributesOf(visible: Visible) {
  return [
    { key: keys.phase, value: visible.phase },
    { key: keys.wave, value: visible.wave },
    { key: keys.openQuestions, value: visible.open_questions },
    { key: keys.oldestQuestion, value: dateOf(visible.oldest_question_at) },
    { key: keys.costUsd, value: visible.cost_micro_usd / 1_000_000 },
    { key: keys.run, value: visible.run_id },
  ];
}

function memoOf(visible: Visible): Record<string, string | StoreIdentity | RunLoad> {
  return {
    [memoKeys.goal]: visible.goal_title,
    [memoKeys.phase]: visible.phase,
    [memoKeys.waitingFor]: visible.waiting_for,
    ...(visible.store !== undefined && { [memoKeys.store]: visible.store }),
    ...(visible.load !== undefined && { [memoKeys.load]: visible.load }),
  };
}

/** Returns the search attributes of a child, which is found by its run's id. Needs no event of its own. */
function childSearchAttributes(runId: string): TypedSearchAttributes {
  return new TypedSearchAttributes([{ key: keys.run, value: runId }]);
}

/**
 * Returns the start options of every workflow below a run.
 *
 * Its id names its place in the run, so an older workflow with that id belongs to a history that was reset; it would
 * only waste money and is terminated. For a child the server offers only the reuse policy for this.
 *
 * @param summary Shown in the Web UI.
 */
export function childOptions(runId: string, summary: string): Partial<ChildWorkflowOptions> {
  return {
    workflowIdReusePolicy: 'TERMINATE_IF_RUNNING',
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    staticSummary: summary,
    typedSearchAttributes: childSearchAttributes(runId),
  };
}
