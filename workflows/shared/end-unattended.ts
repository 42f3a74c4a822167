import type { Question } from '../../contracts/question.ts';
import type { RootState } from './root-state.ts';
import { describeUnanswered } from '../../core/run/decide-next-step.ts';

interface UnattendedHost {
  readonly state: RootState;
  readonly inbox: { open(): readonly Question[] };
  stop(): void;
}

/** Ends a run that nobody attends as soon as a question is open: the run has taken every default that there is. */
export function endUnattended(host: UnattendedHost): void {
  const { state, inbox } = host;
  const [question] = inbox.open();
  if (question === undefined || state.opened?.unattended !== true) return;
  if (state.stop_reason !== null) return;
  state.stop_reason = describeUnanswered(question);
  host.stop();
}
