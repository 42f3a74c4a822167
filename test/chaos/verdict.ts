import type { CampaignResult, PhaseResult } from './campaign.ts';
import { computeSpread } from './statistics.ts';
import type { Spread } from './statistics.ts';
import type { RecoverySample, Tally } from './tally.ts';

/** How fast runs went on after one kind of death. */
export interface RecoveryRow {
  readonly what: string;
  /** Milliseconds within which everything should have gone on. */
  readonly limitMs: number;
  /** Until the first, and until the last of what lay there went on; milliseconds from the moment a worker was there. */
  readonly first: Spread;
  readonly all: Spread;
  readonly overLimit: number;
  /** Item for which the slowest recovery waited. */
  readonly slowest: string;
}

/** Findings of a campaign. */
export interface Verdict {
  readonly runs: number;
  readonly deaths: number;
  readonly pauses: number;
  readonly modelFaults: number;
  readonly answersSent: number;
  readonly answersLost: number;
  readonly answersAppliedTwice: number;
  readonly boughtAgain: number;
  readonly boughtAgainMax: number;
  /** Runs that somebody would have had to help. */
  readonly operatorSteps: number;
  /** One line for each breach, stuck run, and harm that never happened. */
  readonly faults: readonly string[];
  readonly recoveries: readonly RecoveryRow[];
}

const inCallLimitMs = 12_000;
const betweenCallsLimitMs = 4_000;

export function judgeCampaign({ phases }: CampaignResult): Verdict {
  const breaches = phases.flatMap((phase) => phase.breaches);
  const countOf = (kind: string): number => breaches.filter((one) => one.kind === kind).length;
  const sum = (read: (phase: PhaseResult) => number): number =>
    phases.reduce((total, phase) => total + read(phase), 0);
  return {
    runs: sum(({ runs }) => runs),
    deaths: sum(({ deaths }) => deaths),
    pauses: sum(
      ({ fired }) => (fired['worker paused'] ?? 0) + (fired['worker paused in a crowd'] ?? 0),
    ),
    modelFaults: sum(({ modelFaults }) => modelFaults),
    answersSent: sum(
      ({ answers }) => answers.first + answers.again + answers.late + answers.refused,
    ),
    answersLost: countOf('answer lost'),
    answersAppliedTwice: countOf('answer applied twice'),
    boughtAgain: sum(({ boughtAgain }) => boughtAgain),
    boughtAgainMax: sum(({ boughtAgainMax }) => boughtAgainMax),
    operatorSteps: sum(({ stuck }) => stuck.length),
    faults: phases.flatMap(listFaults),
    recoveries: tabulate(phases.flatMap(({ recoveries }) => recoveries)),
  };
}

function listFaults({ name, breaches, stuck, unreached, ...phase }: PhaseResult): string[] {
  return [
    ...breaches.map(({ kind, run, text }) => `${run}: ${kind}: ${text}`),
    ...stuck.map((text) => `stuck: ${text}`),
    ...unreached.map((text) => `${name}: never came to ${text}`),
    ...(hasFired(phase) ? [] : [`${name}: no harm was done`]),
  ];
}

type Fired = Pick<Tally, 'fired' | 'modelFaults' | 'answers'>;

/** A phase whose harm never happened has shown nothing. */
function hasFired({ fired, modelFaults, answers }: Fired): boolean {
  return Object.keys(fired).length > 0 || modelFaults > 0 || answers.again + answers.late > 0;
}

function tabulate(samples: readonly RecoverySample[]): RecoveryRow[] {
  const groups = new Map<string, RecoverySample[]>();
  for (const sample of samples) {
    const what = `${sample.kind}${describeCall(sample)}`;
    groups.set(what, [...(groups.get(what) ?? []), sample]);
  }
  const inOrder = [...groups].toSorted(([one], [other]) => one.localeCompare(other));
  return inOrder.flatMap(([what, group]): RecoveryRow[] => {
    const limitMs = group.some(isInCall) ? inCallLimitMs : betweenCallsLimitMs;
    const first = computeSpread(group.map(({ firstMs }) => firstMs));
    const all = computeSpread(group.map(({ allMs }) => allMs));
    const slowest = group.toSorted((a, b) => b.allMs - a.allMs)[0]?.last ?? '';
    const overLimit = group.filter(({ allMs }) => allMs > limitMs).length;
    return first && all ? [{ what, limitMs, first, all, overLimit, slowest }] : [];
  });
}

/** A call has begun before its request goes out, and has not ended before its result is reported. */
function isInCall({ inCall, callLeft }: RecoverySample): boolean {
  return inCall || callLeft;
}

function describeCall({ inCall, callLeft }: RecoverySample): string {
  if (inCall) return ', requests in flight';
  return callLeft ? ', a call just before or after its request' : '';
}
