import type { TakenOver } from '../../contracts/planner-run.ts';
import { takeAmend } from '../shared/root-handlers.ts';
import type { RootHost } from '../shared/root-host.ts';

/** Goes on from what another run had before a wave. Messages that came before stay. */
export function takeFork(host: RootHost, fork: TakenOver): void {
  const { state } = host;
  state.wave = fork.wave;
  state.wave_at_work = fork.wave;
  // The limit is for the waves that this run makes.
  state.waves_allowed += fork.wave;
  state.waves = fork.wave_outlines;
  state.mode = fork.mode_chosen ?? null;
  state.waived = [...fork.waived, ...state.waived];
  state.amendments = [...fork.amendments, ...state.amendments];
  host.inbox.takeOver(fork);
  if (fork.instruction !== undefined) takeAmend(host, { instruction: fork.instruction }, []);
  host.refresh();
}
