import { callKeyOf } from '../../activities/agent-turn/prepare-turn.ts';
import type { TurnAnswer, TurnCall } from '../../contracts/model-turn.ts';
import type { TurnTerms } from '../../contracts/transcript.ts';
import { needsTerms } from '../../core/turns/turn-call.ts';
import { payloadText } from '../support/histories.ts';
import type { HistoryEvent, StoredHistory } from '../support/histories.ts';
import { callersOf, readCallKey } from './call-name.ts';

/** The activity that made a call. The ledger keeps the call's attempts under it. */
export interface CallSite {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
}

/**
 * The sites of a run's calls by the calls' keys, as its histories tell. A key alone does not tell them: a delegation works in
 * its wave's workflow, in one of its own, or in both, and each of their executions numbers its activities from 1.
 */
export class CallSites {
  readonly #sites = new Map<string, CallSite[]>();
  readonly #runIds = new Map<string, string>();
  readonly #types = new Map<string, string>();
  /** Terms that conversations keep, by their newest nodes. */
  readonly #terms = new Map<string, TurnTerms>();
  /** Terms of the calls, by execution and event. */
  readonly #asked = new Map<string, TurnTerms>();

  /** Takes in an event of an execution. */
  see(event: HistoryEvent, { workflowId, runId }: Pick<CallSite, 'workflowId' | 'runId'>): void {
    this.#runIds.set(workflowId, runId);
    const type = event.workflowExecutionStartedEventAttributes?.workflowType?.name;
    if (type) this.#types.set(workflowId, type);
    this.#keepTerms(event, runId);
    const scheduled = event.activityTaskScheduledEventAttributes;
    const activityId = scheduled?.activityId;
    if (!activityId || scheduled.activityType?.name !== 'modelTurn') return;
    const input: TurnTerms = this.#complete(
      JSON.parse(payloadText(scheduled.input)),
      `${runId} ${String(event.eventId)}`,
    );
    const workflowType = this.#types.get(workflowId) ?? '';
    const workflowExecution = { workflowId, runId };
    const key = callKeyOf({ workflowExecution, workflowType, activityId }, input);
    this.#sites.set(key, [...(this.#sites.get(key) ?? []), { workflowId, runId, activityId }]);
  }

  /** A call that leaves terms out has those that the node before it keeps. */
  #complete(call: TurnCall & TurnTerms, place: string): TurnTerms {
    const terms = needsTerms(call) ? (this.#terms.get(call.head ?? '') ?? call) : call;
    this.#asked.set(place, terms);
    return { ...terms, ...call };
  }

  #keepTerms({ activityTaskCompletedEventAttributes: done }: HistoryEvent, runId: string): void {
    const terms = this.#asked.get(`${runId} ${String(done?.scheduledEventId)}`);
    if (!done || terms === undefined) return;
    const { head }: TurnAnswer = JSON.parse(payloadText(done.result));
    this.#terms.set(head, terms);
  }

  /** Lists the sites of the calls with this key, the newest last. */
  of(callKey: string): readonly CallSite[] {
    return this.#sites.get(callKey) ?? [];
  }

  /** Returns the newest site of a call, or where it is most likely while the history has not told. */
  newest(callKey: string): CallSite | null {
    const site = this.of(callKey).at(-1);
    if (site !== undefined) return site;
    const address = readCallKey(callKey);
    const workflowId = callersOf(address).find((one) => this.#runIds.has(one)) ?? '';
    const runId = this.#runIds.get(workflowId);
    const { activityId } = address;
    return runId === undefined ? null : { workflowId, runId, activityId };
  }
}

/** @param histories Those of all executions of a run. */
export function readSites(histories: readonly StoredHistory[]): CallSites {
  const sites = new CallSites();
  for (const { history, ...execution } of histories) {
    for (const event of history.events ?? []) sites.see(event, execution);
  }
  return sites;
}
