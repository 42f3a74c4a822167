import { isDeepStrictEqual } from 'node:util';
import type { CallName } from './call-name.ts';
import { noAttempts } from './read-attempts.ts';
import type { RunFacts } from './run-facts.ts';

/**
 * The model of a run that is hurt: from the undisturbed run and the harm that was done, what must hold at its end.
 *
 * - The result is the undisturbed run's: status, criteria, turns, every artifact byte for byte, the spec of each phase of
 *   a triad, the files that people read of triads and teams, and what a team added to its thread.
 * - Every answer that was sent is kept once and delivered once; one that came too late is refused, and listed. Whether a call
 *   was made is asked only for a call that was interrupted.
 * - Every call of the undisturbed run was made, and no other.
 * - A call was made again only for an interruption that found no recorded reply, or a fault of the model, one each.
 * - The budget counts what the ledger has: calls that were told, and the reservation of each attempt that never told its
 *   end. Every request has an attempt, and an attempt without a request an interruption. Nothing exceeds the limit.
 * - The files of the workspace are those of the undisturbed run, and those that the confirmed effects name. A folder of the
 *   user is changed as a whole at the end, or not at all. After a reset a line may be there twice.
 * - A run that was stopped may end anywhere; one that is completed nevertheless has the result of the undisturbed run.
 * - The effects are those of the undisturbed run, each confirmed, and an MCP server was called once for each of its own.
 */

/** A model call as the model saw it. */
export interface SeenCall {
  /** The same for all attempts at one call. Calls of different executions may share one; then their names differ. */
  readonly key: string;
  readonly name: CallName;
}

/** Harm to a run, as far as it may change the run's traces. */
export interface Harm {
  /** For each death and each pause, the keys of the calls that it found without a recorded reply. */
  readonly interruptions: readonly (readonly string[])[];
  /** Those of the pauses among them: their attempts go on later and tell their end, perhaps after the next attempt began. */
  readonly paused: readonly string[];
  /** The key of a call for each fault that the model answered with. */
  readonly modelFaults: readonly string[];
  /** Answers that differ from the one before, sent after it and taken by the server. */
  readonly lateAnswers: number;
  /** Messages of a flood, which the run has to refuse. */
  readonly floodSignals: number;
  /** Whether the user stopped it: then it may end anywhere. */
  readonly isStopped: boolean;
  /** Whether it was reset: then it does again what the reset took back. */
  readonly isReset: boolean;
}

export interface Breach {
  readonly kind:
    | 'answer lost'
    | 'answer applied twice'
    | 'bought again'
    | 'other result'
    | 'other calls'
    | 'over the budget'
    | 'stalled'
    | 'store too large'
    | 'broken promise'
    | 'campaign failed';
  readonly text: string;
}

export interface Judgement {
  readonly breaches: readonly Breach[];
  /** Calls made again because of an interruption. */
  readonly boughtAgain: number;
  /** How many of them the interruptions allowed. */
  readonly boughtAgainMax: number;
}

/** Facts of the undisturbed run, and the names of its calls. */
export interface Reference {
  readonly facts: RunFacts;
  readonly calls: readonly CallName[];
  /** Whether it asks for more of its budget, as often as the harm makes it. Default false. */
  readonly asksForMore?: boolean;
  /** Whether it continues as new early, at moments that depend on the harm. Default false. */
  readonly hasShortHistories?: boolean;
}

export function judgeRun(
  reference: Reference,
  harm: Harm,
  seen: { readonly facts: RunFacts; readonly calls: readonly SeenCall[] },
): Judgement {
  const bought = countRepeats(harm, seen);
  return {
    breaches: harm.isStopped
      ? [
          ...judgeStopped(seen.facts),
          ...judgeUnstopped(reference.facts, harm, seen.facts),
          ...compareBills(reference, harm, seen),
        ]
      : [
          ...(harm.isReset
            ? compareResults(
                withoutRepeats(reference.facts),
                withoutRepeats(seen.facts),
                lastingFields,
              )
            : compareResults(reference.facts, seen.facts, resultFields)),
          ...(harm.isReset ? [] : compareSteps(reference, harm, seen)),
          ...(harm.isReset ? [] : bought.breaches),
          ...compareBills(reference, harm, seen),
        ],
    boughtAgain: bought.again,
    boughtAgainMax: harm.interruptions.flat().length,
  };
}

/** A run that was stopped has ended, and what its effects wrote is there. It may have been completed before it knew. */
function judgeStopped({ status, effectFaults, outsideCalls }: RunFacts): Breach[] {
  const wrong = effectFaults.filter((fault) => !fault.includes('stopped'));
  const twice = Object.entries(outsideCalls).filter(([, times]) => times > 1);
  return [
    ...(['stopped', 'completed'].includes(status)
      ? []
      : [other('other result', 'status', 'stopped', status)]),
    ...(wrong.length === 0 ? [] : [other('other result', 'effectFaults', [], wrong)]),
    ...(twice.length === 0 ? [] : [other('other result', 'outsideCalls', [], twice)]),
  ];
}

/**
 * A run that was stopped too late is completed like the undisturbed one. Its answers are kept, those that came too late are not
 * counted, and the folder of the user may have been left as it was.
 */
function judgeUnstopped(expected: RunFacts, { isReset }: Harm, seen: RunFacts): Breach[] {
  if (seen.status !== 'completed') return [];
  const fields = (isReset ? lastingFields : resultFields).filter((field) => field !== 'files');
  return [
    ...compareResults(expected, seen, fields),
    ...(isReset ? [] : compareKept(expected.answers, seen.answers)),
  ];
}

/** Compares the steps of a run on its way, which depend on no interruption. */
function compareSteps(
  reference: Reference,
  harm: Harm,
  { facts, calls }: { readonly facts: RunFacts; readonly calls: readonly SeenCall[] },
): Breach[] {
  const isElsewhere = reference.asksForMore === true || reference.hasShortHistories === true;
  return [
    ...compareAnswers(reference.facts, harm, facts),
    ...judgeUnsure(facts),
    // A question about the budget is delivered too, and a delegation that has left its wave gets its answers itself.
    ...(isElsewhere ? [] : compareDeliveries(reference.facts.deliveries, facts.deliveries)),
    ...compareCalls(
      reference.calls,
      calls,
      (key) =>
        isLost(key, harm, facts) || (reference.asksForMore === true && isFaulty(key, harm, calls)),
    ),
  ];
}

const resultFields = [
  'status',
  'waves',
  'criteria',
  'delegations',
  'artifacts',
  'phases',
  'design',
  'reportFiles',
  'thread',
  'files',
  'effects',
  'effectFaults',
  'outsideCalls',
  'open',
] as const;

/** Those that are the same when a run does something twice. */
const lastingFields = [
  'status',
  'waves',
  'criteria',
  'delegations',
  'artifacts',
  'files',
  'open',
] as const;

/**
 * Removes repeated lines from the files. What agents wrote before a reset stays, and the agents of the programs edit files
 * without a look at them.
 */
function withoutRepeats(facts: RunFacts): RunFacts {
  const files = Object.entries(facts.files).map(([path, text]) => [
    path,
    [...new Set(text.split('\n'))].join('\n'),
  ]);
  return { ...facts, files: Object.fromEntries(files) };
}

function compareResults(
  expected: RunFacts,
  seen: RunFacts,
  fields: readonly (typeof resultFields)[number][],
): Breach[] {
  return fields
    .filter((field) => !isDeepStrictEqual(expected[field], seen[field]))
    .map((field) => other('other result', field, expected[field], seen[field]));
}

function compareAnswers(
  expected: RunFacts,
  { lateAnswers, floodSignals }: Harm,
  seen: RunFacts,
): Breach[] {
  const refused = expected.refused + lateAnswers + floodSignals;
  return [
    ...compareKept(expected.answers, seen.answers),
    ...(seen.refused === refused
      ? []
      : [other('answer lost', 'late answers that are listed', refused, seen.refused)]),
  ];
}

/** The user is asked whether a call was made only if the call was interrupted: at most once for each interruption of one. */
function judgeUnsure({ unsureCalls, repeatedCalls }: RunFacts): Breach[] {
  if (unsureCalls <= repeatedCalls) return [];
  const most = `at most ${repeatedCalls}`;
  return [other('broken promise', 'questions whether a call was made', most, unsureCalls)];
}

function compareKept(expected: readonly string[], seen: readonly string[]): Breach[] {
  if (isDeepStrictEqual(expected, seen)) return [];
  const isMissing = expected.some((one) => !seen.includes(one));
  return [other(isMissing ? 'answer lost' : 'answer applied twice', 'answers', expected, seen)];
}

function compareDeliveries(
  expected: RunFacts['deliveries'],
  seen: RunFacts['deliveries'],
): Breach[] {
  const ids = [...new Set([...Object.keys(expected), ...Object.keys(seen)])];
  return ids.flatMap((id): Breach[] => {
    const [wanted, found] = [expected[id] ?? 0, seen[id] ?? 0];
    if (wanted === found) return [];
    const kind = found < wanted ? 'answer lost' : 'answer applied twice';
    return [other(kind, `deliveries to ${id}`, wanted, found)];
  });
}

/** A call too many is one that was lost or got a fault, and was made again under another key, or a breach. */
function compareCalls(
  expected: readonly CallName[],
  seen: readonly SeenCall[],
  isLostCall: (key: string) => boolean,
): Breach[] {
  const wanted = expected.toSorted();
  const rest = [...wanted];
  const distinct = [...distinctCalls(seen).values()];
  const names = [
    ...distinct.filter(({ key }) => !isLostCall(key)),
    ...distinct.filter(({ key }) => isLostCall(key)),
  ]
    .filter(({ key, name }) => {
      const at = rest.indexOf(name);
      if (at >= 0) rest.splice(at, 1);
      return at >= 0 || !isLostCall(key);
    })
    .map(({ name }) => name)
    .toSorted();
  return isDeepStrictEqual(wanted, names) ? [] : [other('other calls', 'calls', wanted, names)];
}

function distinctCalls(seen: readonly SeenCall[]): ReadonlyMap<string, SeenCall> {
  return new Map(seen.map((call) => [`${call.key} ${call.name}`, call]));
}

/**
 * Returns true for a call that never told of a reply because a death interrupted it, or told of it too late after a pause.
 * Its reservation counts as spent, so the next attempt may not fit into its share of the budget: then it asks for more and
 * makes the call under another key.
 */
function isLost(key: string, { interruptions, paused }: Harm, facts: RunFacts): boolean {
  const { told, attempts } = facts.attempts[key] ?? noAttempts;
  const times = interruptions.filter((keys) => keys.includes(key)).length;
  // An attempt that no pause interrupted has told in time.
  const isLate = paused.includes(key) && attempts <= times;
  return times > 0 && (told === 0 || isLate);
}

/** Returns true for a call whose every reply was a fault of the model: its repetition may need more budget, too. */
function isFaulty(key: string, { modelFaults }: Harm, calls: readonly SeenCall[]): boolean {
  const requests = calls.filter((call) => call.key === key).length;
  return requests > 0 && modelFaults.filter((one) => one === key).length >= requests;
}

function countRepeats(
  { interruptions, modelFaults }: Harm,
  { facts, calls: seen }: { readonly facts: RunFacts; readonly calls: readonly SeenCall[] },
): { readonly again: number; readonly breaches: Breach[] } {
  const repeats = [...distinctCalls(seen).values()].map(({ key, name }) => {
    const faults = modelFaults.filter((one) => one === key).length;
    const allowed = interruptions.filter((keys) => keys.includes(key)).length;
    const made = seen.filter((call) => call.key === key && call.name === name).length;
    return { key, name, allowed, again: Math.max(0, made - 1 - faults) };
  });
  return {
    again: repeats.reduce((sum, { again }) => sum + again, 0),
    breaches: repeats
      .filter(({ again, allowed }) => again > allowed)
      .map(({ key, name, again, allowed }) => ({
        kind: 'bought again',
        text: `${name}: made again ${again} times, at most ${allowed} allowed; its ledger: ${JSON.stringify(facts.attempts[key] ?? noAttempts)}`,
      })),
  };
}

/**
 * The bill is what the ledger has: calls that attempts told of, and a full reservation for each that never told its end. An
 * attempt may have died between its reservation and its request, or found no room; any other one without a request is a breach.
 *
 * An attempt whose worker slept between the two takes its reservation back when it wakes up. By then the next attempt may have
 * told the run of it: the run's bill is that much above the ledger, never below.
 */
function compareBills(
  { asksForMore = false }: Reference,
  { interruptions, paused, isReset, modelFaults }: Harm,
  { facts, calls }: { readonly facts: RunFacts; readonly calls: readonly SeenCall[] },
): Breach[] {
  const { billedCalls, callsMax, attempts } = facts;
  const found = Object.values(attempts);
  const bill = found.reduce((sum, { told, reserved }) => sum + told + reserved, 0);
  const faultsAt = (key: string): number => modelFaults.filter((one) => one === key).length;
  // A request that the model refused with an error is not billed.
  const refused = Object.entries(attempts).reduce(
    (sum, [key, { free }]) => sum + Math.min(free, faultsAt(key)),
    0,
  );
  const takenBack = Object.entries(attempts).reduce((sum, [key, { free }]) => {
    const pauses = paused.filter((one) => one === key).length;
    return sum + Math.min(Math.max(0, free - faultsAt(key)), pauses);
  }, 0);
  const overspent = Math.max(calls.length - refused, billedCalls);
  return [
    ...(overspent > callsMax
      ? [other('over the budget', 'calls', `at most ${callsMax}`, overspent)]
      : []),
    // What a reset took back is counted with the next wave, if there is one.
    ...((billedCalls >= bill && billedCalls <= bill + takenBack) || isReset
      ? []
      : [other('other result', 'billed calls', bill, billedCalls)]),
    ...[...new Set([...Object.keys(attempts), ...calls.map(({ key }) => key)])].flatMap((key) =>
      compareAttempts(
        key,
        // After a fault the next attempt may find no room in a small budget. It tells so without a request.
        interruptions.length + (asksForMore ? faultsAt(key) : 0),
        facts,
        calls,
      ),
    ),
  ];
}

function compareAttempts(
  key: string,
  unsentMax: number,
  facts: RunFacts,
  calls: readonly SeenCall[],
): Breach[] {
  const requests = calls.filter((call) => call.key === key).length;
  const { attempts, reserved, free } = facts.attempts[key] ?? noAttempts;
  const unsent = attempts - requests;
  const says = `${requests} requests, ${attempts} attempts, ${reserved} never told their end`;
  if (unsent >= 0 && unsent <= Math.min(reserved + free, unsentMax)) return [];
  return [
    {
      kind: 'other result',
      text: `attempts at ${key}: ${says}, at most ${unsentMax} without a request`,
    },
  ];
}

function other(kind: Breach['kind'], what: string, expected: unknown, seen: unknown): Breach {
  return {
    kind,
    text: `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(seen)}`,
  };
}
