import type { AnswerCounts } from './answering.ts';
import type { PlayedTrial } from './trial.ts';
import { harmlessKinds, kindsWithoutAbsence } from './interruption.ts';
import type { InterruptionKind } from './interruption.ts';
import { measureRecovery } from './recovery.ts';
import type { Recovery } from './recovery.ts';
import { judgeRun } from './run-model.ts';
import type { Breach, Reference } from './run-model.ts';
import { describeStrike } from './strike.ts';

/** How one run went on after one interruption. */
export interface RecoverySample extends Recovery {
  readonly kind: InterruptionKind;
  readonly inCall: boolean;
}

/** Sums of a phase's actions and findings over its runs. */
export interface Tally {
  runs: number;
  /** How often each kind of harm really happened. */
  readonly fired: Record<string, number>;
  /** Kills; with a server, both are one. */
  deaths: number;
  modelFaults: number;
  readonly answers: { -readonly [kind in keyof AnswerCounts]: number };
  boughtAgain: number;
  boughtAgainMax: number;
  /** Runs whose reply was taken from the ledger after its worker had died. */
  readonly recoveries: RecoverySample[];
  /** Runs that did not end by themselves: somebody would have had to help. */
  readonly stuck: string[];
  readonly breaches: (Breach & { readonly run: string })[];
  /** Moments that never came, so that nothing was done at them. */
  readonly unreached: string[];
}

export function createTally(): Tally {
  return {
    runs: 0,
    fired: {},
    deaths: 0,
    modelFaults: 0,
    answers: { first: 0, again: 0, late: 0, refused: 0 },
    boughtAgain: 0,
    boughtAgainMax: 0,
    recoveries: [],
    stuck: [],
    breaches: [],
    unreached: [],
  };
}

/** Adds one tally to another. */
export function mergeTally(sum: Tally, more: Tally): void {
  for (const field of ['runs', 'deaths', 'modelFaults', 'boughtAgain', 'boughtAgainMax'] as const) {
    sum[field] += more[field];
  }
  for (const [kind, count] of Object.entries(more.fired)) {
    sum.fired[kind] = (sum.fired[kind] ?? 0) + count;
  }
  for (const kind of ['first', 'again', 'late', 'refused'] as const) {
    sum.answers[kind] += more.answers[kind];
  }
  for (const list of ['recoveries', 'stuck', 'breaches', 'unreached'] as const) {
    const into: unknown[] = sum[list];
    into.push(...more[list]);
  }
}

/** Judges one run and adds it. */
export function addTrial(tally: Tally, reference: Reference, played: PlayedTrial): void {
  const { runId: run, facts, harm, calls, interruptions } = played;
  tally.runs += 1;
  tally.modelFaults += harm.modelFaults.length;
  for (const kind of ['first', 'again', 'late', 'refused'] as const) {
    tally.answers[kind] += played.answers[kind];
  }
  for (const { kind } of interruptions) {
    tally.fired[kind] = (tally.fired[kind] ?? 0) + 1;
    if (!harmlessKinds.includes(kind)) tally.deaths += 1;
  }
  if (facts === null) {
    tally.stuck.push(`${run}: ${played.stuck}`);
    return;
  }
  const judged = judgeRun(reference, harm, { facts, calls });
  tally.boughtAgain += judged.boughtAgain;
  tally.boughtAgainMax += judged.boughtAgainMax;
  const broken = played.broken.map((text): Breach => ({ kind: 'broken promise', text }));
  const story = played.fired.map(describeStrike).join('; ') || 'no strike';
  for (const { kind, text } of [...judged.breaches, ...broken]) {
    tally.breaches.push({ kind, run, text: `${text} (${story})` });
  }
  for (const [index, interruption] of interruptions.entries()) {
    const until = interruptions[index + 1]?.atMs;
    if (kindsWithoutAbsence.includes(interruption.kind)) continue;
    const recovery = measureRecovery(played.histories, interruption, until);
    const { kind, inCall } = interruption;
    if (recovery !== null) tally.recoveries.push({ ...recovery, kind, inCall });
  }
}
