import type { BenchStage } from './bench-stage.ts';
import type { PeersPlace } from './peers/peer-messages.ts';
import type { Summary } from './statistics.ts';

/** One line of the report. */
export interface FigureRow {
  readonly figure: string;
  /** Empty when nothing was promised. */
  readonly target: string;
  readonly measured: string;
  /** The plain loop on the same calls; empty where there is none. */
  readonly floor: string;
  /** Null when there is no target. */
  readonly reached: boolean | null;
  readonly notes: string;
  /** The numbers behind the texts. Milliseconds and bytes, as their names say. */
  readonly numbers: Readonly<Record<string, number | Summary>>;
}

export interface FigureContext {
  /** Rounds of a measurement that takes less than a second. Longer ones take fewer. */
  readonly rounds: number;
  /** How large a measurement is, when so much was promised: less in a trial. */
  readonly sizeOf: (promised: number) => number;
  /** Where other engines are found; null: nowhere. */
  readonly peers: PeersPlace | null;
  /** Tells how far the measurement is. */
  readonly say: (line: string) => void;
  /**
   * Brings up a fresh stage for `work` and takes it down again, so that no figure hangs on what was measured before.
   *
   * @param serverArguments Arguments of the dev server beside the usual ones. Default: none.
   */
  readonly withStage: <T>(
    work: (stage: BenchStage) => Promise<T>,
    serverArguments?: readonly string[],
  ) => Promise<T>;
}

export interface Figure {
  /** For `--only`. */
  readonly name: string;
  /** For `--help`, in a few words. */
  readonly about: string;
  readonly measure: (context: FigureContext) => Promise<readonly FigureRow[]>;
}
