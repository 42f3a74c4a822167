import { openBenchStage } from './bench-stage.ts';
import type { BenchStage } from './bench-stage.ts';
import type { FigureContext } from './figure.ts';
import type { PeersPlace } from './peers/peer-messages.ts';

export interface BenchContext extends FigureContext {
  /** Takes down what is up, when the bench is interrupted. */
  closeStages(): Promise<void>;
}

export interface ContextOptions {
  readonly rounds: number;
  /** Measures next to nothing, to see that everything works. */
  readonly trial: boolean;
  readonly peers: PeersPlace | null;
}

/** Share of every size that a trial keeps. */
const trialShare = 1 / 20;

/** Progress goes to standard error, so that standard output is the report alone. */
export function createFigureContext({ rounds, trial, peers }: ContextOptions): BenchContext {
  const open = new Set<BenchStage>();
  const close = async (stage: BenchStage): Promise<void> => {
    if (open.delete(stage)) await stage.close();
  };
  return {
    rounds,
    peers,
    sizeOf: (promised) => (trial ? Math.ceil(promised * trialShare) : promised),
    say: (line) => console.error(line),
    async withStage(work, serverArguments) {
      const stage = await openBenchStage(serverArguments);
      open.add(stage);
      try {
        return await work(stage);
      } finally {
        await close(stage);
      }
    },
    async closeStages() {
      await Promise.all([...open].map(close));
    },
  };
}
