/** Upper bounds for the size of a triad's records in a payload. `limits.ts` proves that they fit. */

/** Upper bound of UTF-8 bytes for one UTF-16 code unit. */
const bytesPerCharMax = 3;

/** One dispute as JSON: slugs, four references, two positions. */
const dissentBytesMax = 800;

/** Three members with their models, two attempts at each of three phases, and the fields around them, as JSON. */
const triadFrameBytesMax = 3_600;

/** Sizes in a triad's spec as JSON: slugs, references and the fields around them. */
const sectionBytesMax = 250;
const claimBytesMax = 600;
const responseBytesMax = 200;

/** A record of a turn, and one that is returned to its member because it was outdated, as JSON. */
const recordBytesMax = 450;
const returnedBytesMax = 500;

/** The limits of `engineLimits` that bound a triad. */
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

/** Returns the most bytes that an outcome needs for its triad, as JSON. */
export function triadBytesMax(engine: TriadLimits): number {
  const texts = 2 * engine.triadTextCharsMax * bytesPerCharMax;
  return triadFrameBytesMax + texts + engine.dissentCarriedMax * dissentBytesMax;
}

/** Returns the most bytes of a triad's spec, as JSON. */
export function specBytesMax({ sectionsMax, roundsMax }: TriadLimits): number {
  // Three claims on each section with two answers a round, or two with three.
  const answers = 6 * roundsMax * responseBytesMax;
  return sectionsMax * (sectionBytesMax + 3 * claimBytesMax + answers);
}

/**
 * Returns the most bytes that a phase of a triad returns, as JSON: its spec, and for each of three turns the spec
 * before and after it, its records, those that were returned, and the results of its last calls, the last of them the
 * whole spec.
 */
export function phaseBytesMax(engine: TriadLimits): number {
  const { turnRecordsMax, stateAnswersCharsMax } = engine;
  const records = turnRecordsMax * (recordBytesMax + returnedBytesMax);
  const spec = specBytesMax(engine);
  return spec + 3 * (3 * spec + records + stateAnswersCharsMax);
}
