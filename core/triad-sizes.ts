/** What the records of a triad take in a payload at most. `limits.ts` proves that it fits. */

/** UTF-8 needs at most 3 bytes for one UTF-16 code unit. */
const bytesPerCharMax = 3;

/** One dispute as JSON: slugs, four references, two positions. */
const dissentBytesMax = 800;

/** Three members with their models, two attempts at each of three phases, and the fields around them, as JSON. */
const triadFrameBytesMax = 3_600;

/** Of a triad's spec as JSON: slugs, references and the fields around them. */
const sectionBytesMax = 250;
const claimBytesMax = 600;
const responseBytesMax = 200;

/** A record of a turn, and what comes back to the member where it was overtaken, as JSON. */
const recordBytesMax = 450;
const returnedBytesMax = 500;

/** Those of `engineLimits` that bound a triad. */
type TriadLimits = Readonly<
  Record<
    | 'triadTextCharsMax'
    | 'dissentCarriedMax'
    | 'sectionsMax'
    | 'roundsMax'
    | 'turnRecordsMax'
    | 'stateAnswersCharsMax',
    number
  >
>;

/** Bytes that an outcome takes for its triad at most, as JSON. */
export function triadBytesMax(engine: TriadLimits): number {
  const texts = 2 * engine.triadTextCharsMax * bytesPerCharMax;
  return triadFrameBytesMax + texts + engine.dissentCarriedMax * dissentBytesMax;
}

/** Bytes that the spec of a triad takes at most, as JSON. */
export function specBytesMax({ sectionsMax, roundsMax }: TriadLimits): number {
  // Three claims on each section with two answers a round, or two with three.
  const answers = 6 * roundsMax * responseBytesMax;
  return sectionsMax * (sectionBytesMax + 3 * claimBytesMax + answers);
}

/**
 * Bytes that a phase of a triad hands back at most, as JSON: its spec, and for each of three turns the spec that it was
 * given, the one that it has come to, its records, those that came back, and what its last calls were told, the last of them
 * the whole spec.
 */
export function phaseBytesMax(engine: TriadLimits): number {
  const { turnRecordsMax, stateAnswersCharsMax } = engine;
  const records = turnRecordsMax * (recordBytesMax + returnedBytesMax);
  const spec = specBytesMax(engine);
  return spec + 3 * (3 * spec + records + stateAnswersCharsMax);
}
