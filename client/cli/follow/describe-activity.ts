import type { TurnProgress } from '../../../contracts/views.ts';
import type { ActivityReading } from '../../read-work.ts';
import { cleanLine } from '../terminal-text.ts';

const lastWordsCharactersMax = 60;

/** `research (researcher) · thinks in turn 1, 340 tokens so far`: a model call of a stage of a design. */
export function describeStageCall(call: ActivityReading): string {
  const { stage, agent_id }: Partial<TurnProgress> = call.heartbeat ?? {};
  const name = cleanLine(String(stage).replaceAll('_', ' '));
  return `${name} (${cleanLine(String(agent_id))}) · ${describeActivity(call)}`;
}

/** The newest heartbeat in a few words. What it does not tell is left out. */
export function describeActivity({ activity_type, attempt, heartbeat }: ActivityReading): string {
  const { output_tokens, last_words, turn }: Partial<TurnProgress> = heartbeat ?? {};
  const tool = heartbeat?.['tool'];
  const thinks = typeof turn === 'number' ? `thinks in turn ${turn}` : 'thinks';
  const call = activity_type === 'modelTurn' ? thinks : cleanLine(activity_type);
  const words = typeof last_words === 'string' ? last_words : '';
  const parts = [
    typeof tool === 'string' ? `calls ${cleanLine(tool)}` : call,
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(typeof output_tokens === 'number' && output_tokens > 0
      ? [`${output_tokens} tokens so far`]
      : []),
    ...(words === '' ? [] : [`“…${cleanLine(words.slice(-lastWordsCharactersMax))}”`]),
  ];
  return parts.join(', ');
}
