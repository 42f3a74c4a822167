import type { WaveResult } from '../../contracts/planner-wave.ts';
import type { PlannerRunResult } from '../../contracts/planner-run.ts';
import type { QuestionsView } from '../../contracts/views.ts';
import type { StoredHistory } from '../support/histories.ts';

/** What a run came to: everything that must not depend on what happened to it on the way. */
export interface RunFacts {
  readonly status: string;
  readonly waves: number;
  /** `<id>: <state>`, sorted. */
  readonly criteria: readonly string[];
  /** Address of each artifact by what it is: `plan`, `decision`, and a delegation's id for its output. */
  readonly artifacts: Readonly<Record<string, string | null>>;
  /** `<id>: completed after 2 turns`, sorted. */
  readonly delegations: readonly string[];
  /** `<delegation>: <answer>` for each answer that the run keeps, sorted. */
  readonly answers: readonly string[];
  /** By delegation: how often answers were delivered to it. */
  readonly deliveries: Readonly<Record<string, number>>;
  /** Answers that were refused and are listed with the reason. */
  readonly refused: number;
  /** Questions that are still open. */
  readonly open: number;
  /** Model calls that the run says it was billed. */
  readonly billedCalls: number;
}

/**
 * @param histories the run's, its own first.
 * @throws when the run has not ended with a result.
 */
export function readRunFacts(
  histories: readonly StoredHistory[],
  { answered, rejected, open }: QuestionsView,
): RunFacts {
  const events = histories.flatMap(({ history }) => history.events ?? []);
  const result: PlannerRunResult = JSON.parse(
    payloadText(
      histories[0]?.history.events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result,
    ),
  );
  const waves = events
    .map((event) => event.childWorkflowExecutionCompletedEventAttributes)
    .filter((ended) => ended?.workflowType?.name === 'plannerWave')
    .map((ended): WaveResult => JSON.parse(payloadText(ended?.result)));
  const outcomes = waves.flatMap((wave) => wave.outcomes);
  return {
    status: result.status,
    waves: result.waves,
    criteria: result.criteria.map((one) => `${one.criterion_id}: ${one.state}`).toSorted(),
    artifacts: {
      plan: waves.at(-1)?.plan_ref ?? null,
      decision: waves.at(-1)?.decision?.decision_ref ?? null,
      ...Object.fromEntries(outcomes.map((one) => [one.delegation_id, one.output_ref])),
    },
    delegations: outcomes
      .map((one) => `${one.delegation_id}: ${one.status} after ${one.turns} turns`)
      .toSorted(),
    answers: answered.map((one) => `${one.delegation_id ?? 'run'}: ${one.answer}`).toSorted(),
    deliveries: Object.fromEntries(histories.flatMap(countDeliveries)),
    refused: rejected.length,
    open: open.length,
    billedCalls: result.usage.calls,
  };
}

function countDeliveries({ workflowId, type, history }: StoredHistory): [string, number][] {
  if (type !== 'delegation') return [];
  const delivered = (history.events ?? []).filter(
    (event) => event.workflowExecutionSignaledEventAttributes?.signalName === 'deliver',
  );
  return [[workflowId.split('/').at(-1) ?? '', delivered.length]];
}

interface Payloads {
  readonly payloads?: readonly { readonly data?: Uint8Array | null }[] | null;
}

/** The one value of a message or a result, as JSON text. */
export function payloadText(payloads: Payloads | null | undefined): string {
  const data = payloads?.payloads?.[0]?.data;
  if (!data) throw new Error('There is no payload to read: the run has no result.');
  return Buffer.from(data).toString('utf8');
}
