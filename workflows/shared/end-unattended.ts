import { describeUnanswered } from '../../core/run/unanswered.ts';
import type { RootHost } from './root-host.ts';

/** Ends a run that nobody attends as soon as a question is open: the run has taken every default that there is. */
export function endUnattended(host: RootHost): void {
  const { state, inbox } = host;
  const [question] = inbox.open();
  if (question === undefined || state.opened?.unattended !== true) return;
  if (state.stop_reason !== null) return;
  state.stop_reason = describeUnanswered(question);
  host.stop();
}
