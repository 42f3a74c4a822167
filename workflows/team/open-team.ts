import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TeamSetup } from '../../contracts/team-run.ts';
import { stepSummary } from '../../core/render/labels.ts';
import { isCancellation } from '@temporalio/workflow';
import { loadThread, openTeam as readTeam, rewriteTask } from '../shared/activities.ts';
import type { Budget } from '../shared/budget.ts';
import type { Superior } from '../shared/superior.ts';
import { applyGuards } from './apply-guards.ts';
import { readFailure, untilDone } from '../shared/failures.ts';

/** A team that may start. */
export interface OpenedTeam {
  readonly setup: TeamSetup;
  /** Order with the message after the middlewares. */
  readonly order: DelegationOrder;
  readonly message_ref: Ref;
  readonly history_ref: Ref | null;
  /** Notes for people about its start. */
  readonly notes: readonly string[];
}

export type Opening =
  | { readonly type: 'opened'; readonly team: OpenedTeam }
  | { readonly type: 'refused'; readonly reason: string }
  /** An input function blocked the message. */
  | (BlockedTeam & { readonly type: 'blocked' });

/** A team whose leader never read the message. */
export interface BlockedTeam extends Pick<OpenedTeam, 'setup' | 'notes'> {
  readonly reason: string;
}

/**
 * Resolves the team's members, sends its message through the input functions, and reads its thread. Nothing is spent.
 */
export async function openTeam(
  order: DelegationOrder,
  superior: Superior,
  budget: Pick<Budget, 'release'>,
): Promise<Opening> {
  const { run_id, registry_ref, plan_ref, record_ref, delegation } = order;
  const { delegation_id } = delegation;
  const park = (reason: string): Promise<void> => superior.park(reason);
  const opened = await untilSettled(
    () =>
      readTeam.executeWithOptions({ summary: stepSummary(delegation_id, 'who is in the team') }, [
        { run_id, registry_ref, plan_ref, delegation_id },
      ]),
    park,
  );
  if ('refused' in opened) return { type: 'refused', reason: opened.refused };
  const { setup, message_ref } = opened.value;
  const notes: string[] = [...setup.notes];
  const guarded = await applyGuards(setup, 'input', message_ref, {
    order,
    superior,
    budget,
    note: (text) => void notes.push(text),
  });
  if (guarded.type === 'blocked') return { ...guarded, setup, notes };
  const { subject_ref } = guarded;
  const rewritten =
    subject_ref === message_ref
      ? { record_ref, plan_ref }
      : await untilDone(
          () => rewriteTask({ record_ref, plan_ref, delegation_id, message_ref: subject_ref }),
          park,
        );
  const history_ref = await recall(setup, subject_ref, run_id, notes);
  return {
    type: 'opened',
    team: {
      setup,
      order: { ...order, ...rewritten },
      message_ref: subject_ref,
      history_ref,
      notes,
    },
  };
}

/** Waits for everything except bad input, which waiting can't repair. */
async function untilSettled<T>(
  work: () => Promise<T>,
  park: (reason: string) => Promise<void>,
): Promise<{ readonly value: T } | { readonly refused: string }> {
  return untilDone<{ readonly value: T } | { readonly refused: string }>(async () => {
    try {
      return { value: await work() };
    } catch (error) {
      if (isCancellation(error)) throw error;
      const { type, message } = readFailure(error);
      if (type !== 'InvalidInput') throw error;
      return { refused: message };
    }
  }, park);
}

/** Reads the thread. A thread that can't be read never fails a team (case 4.2). */
async function recall(
  { thread_id }: TeamSetup,
  message_ref: Ref,
  run_id: string,
  notes: string[],
): Promise<Ref | null> {
  if (thread_id === null) return null;
  try {
    const { history_ref, note } = await loadThread.executeWithOptions(
      { summary: 'read the thread' },
      [{ thread_id, message_ref, run_id }],
    );
    notes.push(note);
    return history_ref;
  } catch (error) {
    if (isCancellation(error)) throw error;
    notes.push(`Went on without the thread: ${readFailure(error).message}`);
    return null;
  }
}
