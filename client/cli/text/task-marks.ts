import type { TaskView } from '../../../contracts/views.ts';
import type { Tone } from '../terminal-text.ts';

/** How a task of a team is marked in each state, and in which tone. */
export const taskMarks: Readonly<Record<TaskView['state'], readonly [string, Tone]>> = {
  pending: ['○', 'quiet'],
  running: ['●', 'strong'],
  waiting: ['?', 'attention'],
  completed: ['✓', 'good'],
  failed: ['✗', 'bad'],
  timed_out: ['✗', 'bad'],
  stopped: ['■', 'quiet'],
  not_started: ['–', 'quiet'],
};
