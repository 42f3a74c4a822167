import type { DeliveredAnswer, WaveProgress } from '../../contracts/messages.ts';
import type { KnownAnswer } from '../../contracts/question.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { WaveView } from '../../contracts/views.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { Control } from '../shared/control.ts';
import type { Conversation } from '../shared/conversation.ts';
import type { Superior } from '../shared/superior.ts';

/** What a wave is given besides its order, and what it notes while it works. */
export interface WaveDesk {
  readonly control: Control;
  readonly superior: Superior;
  /** Tells the run, or the record of a wave alone, what was planned. */
  readonly onPlanned: (progress: WaveProgress) => Promise<void>;
  /** Called when something that people see has changed. A view of many delegations is long: make it when it is shown. */
  readonly onView: (view: () => WaveView) => void;
  readonly work: WaveWork;
}

/** What there is to see before a wave shows itself. */
export function viewBefore(wave: number): WaveView {
  return { wave, phase: 'planning', delegations: [], usage: noUsage, at_work: [] };
}

export interface WaveWork {
  /** Of the planner's conversations in this wave that are over, and of delegations that have ended. */
  usage: Usage;
  /** The planner's conversations under way. */
  readonly talks: Set<Conversation>;
  /** Escalations of the planner so far; they number the next. */
  escalations: number;
  /** Answers that came during the wave, to the planner and to delegations. */
  answers: readonly KnownAnswer[];
}

export function beginWaveWork(): WaveWork {
  return { usage: noUsage, talks: new Set(), escalations: 0, answers: [] };
}

export function noteAnswers(work: WaveWork, answers: readonly DeliveredAnswer[]): void {
  const known = answers.map(({ question_id, answered_by }) => ({ question_id, answered_by }));
  work.answers = [...work.answers, ...known];
}

/** Of the planner until now, and of delegations that have ended. */
export function usageUntilNow({ usage, talks }: WaveWork): Usage {
  return addUsage(usage, ...[...talks].map((talk) => talk.usage));
}
