import { commandText } from '../../../core/text/command-text.ts';
import { describeQuestion } from '../ask/describe-question.ts';
import { cleanLine, cleanLines, cleanText } from '../terminal-text.ts';
import { formatUsage } from '../../../core/text/format.ts';
import type { Paint } from '../terminal-text.ts';
import type { FollowEvent, RunEndedEvent } from './follow-event.ts';
import { describeTask } from './render-team-tree.ts';
import { describeDelegation, describeDone, describeWavePhase, phaseTone } from './render-tree.ts';

/** The lines that word a change for people. */
export function formatEvent(event: FollowEvent, paint: Paint): string[] {
  switch (event.type) {
    case 'phase':
      return formatPhase(event, paint);
    case 'wave': {
      const summary = event.summary === null ? '' : ` · ${cleanLine(event.summary, 200)}`;
      return [`wave ${event.wave}: ${describeWavePhase(event)}${summary}`];
    }
    case 'wave_done':
      return [`wave ${event.summary.wave}: ${describeDone(event.summary)}`];
    case 'delegation':
      return [
        `wave ${event.wave}: ${describeDelegation({ ...event.delegation, activity: null }, paint)}`,
      ];
    case 'task':
      return [`wave ${event.wave}: ${describeTask(event.task, paint)}`];
    case 'question':
      return [...describeQuestion(event.question, paint), `  answer with: ${event.command}`];
    case 'question_urged':
      return describeQuestion(event.question, paint).slice(0, 2);
    case 'question_closed':
      return [`${cleanLine(event.question_id)} is answered`];
    case 'notice':
      return [paint('attention', cleanLine(event.text))];
    case 'ended':
      return formatEnd(event, paint);
  }
  return [];
}

function formatPhase(event: Extract<FollowEvent, { type: 'phase' }>, paint: Paint): string[] {
  const phase = paint(phaseTone(event.phase), event.phase.replaceAll('_', ' '));
  const waits = event.waiting_for.map((wait) => cleanLine(wait, 160)).join('; ');
  return [`run: ${phase}${waits === '' ? '' : ` · ${waits}`}`];
}

function formatEnd(event: RunEndedEvent, paint: Paint): string[] {
  const { run_id, status, reason, result } = event;
  const isDone = status === 'completed';
  const [why, ...more] = cleanLines(reason);
  const head = `run ${cleanLine(run_id)}: ${paint(isDone ? 'good' : 'bad', status.replaceAll('_', ' '))}`;
  if (result === null) {
    // Whoever typed a bad input reads its faults one a line.
    const told = more.map((line) => `  ${line}`);
    return [why === undefined ? head : `${head} · ${why}`, ...told, ...formatAnswer(event, paint)];
  }
  const unmet = result.criteria.filter((criterion) => criterion.state === 'open');
  const waves = `${result.waves} ${result.waves === 1 ? 'wave' : 'waves'}`;
  return [
    `${head} · ${waves} · ${formatUsage(result.usage)}`,
    ...unmet.map(({ criterion_id, reason: whyNot }) => {
      return `  not met: ${cleanLine(criterion_id)} · ${cleanLine(whyNot, 200)}`;
    }),
    ...formatAnswer(event, paint),
  ];
}

/** The answer itself, then where it is whole and where the rest is. */
function formatAnswer(
  { run_id, answer, result_path, report_path }: RunEndedEvent,
  paint: Paint,
): string[] {
  const text = cleanText(answer).trimEnd();
  return [
    ...(text === '' ? [] : ['', ...text.split('\n'), '']),
    ...(result_path === null ? [] : [`result: ${cleanLine(result_path)}`]),
    ...(report_path === null
      ? []
      : [
          `report: ${cleanLine(report_path)}`,
          paint('quiet', `show both with: ${commandText('report', run_id)} --full`),
        ]),
  ];
}
