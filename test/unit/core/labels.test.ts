import { describeWait } from '../../../core/render/describe-wait.ts';
import { formatDuration } from '../../../core/render/format-duration.ts';
import { turnSummary } from '../../../core/render/turn-summary.ts';
import { question } from './builders.ts';

describe('labels', () => {
  it('WA1: a wait names its question, and the default that will be taken', () => {
    const at = { question_id: 'q3', default_answer: 'eu-west', deadline_seconds: 7_200 };
    expect(describeWait(question(at))).toBe(
      'waiting for your answer to q3 (default: eu-west in 2 h)',
    );
    expect(describeWait(question({ ...at, deadline_seconds: null }))).toBe(
      'waiting for your answer to q3: Which region?',
    );
    const long = question({ ...at, default_answer: 'x\n'.repeat(500), text: 'y '.repeat(900) });
    for (const wait of [describeWait(long), describeWait({ ...long, deadline_seconds: null })]) {
      expect(wait.length).toBeLessThanOrEqual(120);
      expect(wait).not.toContain('\n');
    }
    expect(describeWait(long)).toMatch(/in 2 h\)$/);
  });

  it('a turn is labelled by agent, purpose and number', () => {
    expect(turnSummary('researcher', 'market-research', 2)).toBe(
      'researcher · market-research · turn 2',
    );
    const long = turnSummary('a'.repeat(200), 'b', 12);
    expect(long.length).toBeLessThanOrEqual(120);
    expect(long).toMatch(/turn 12$/);
  });

  it.each([
    [0, '0 s'],
    [45, '45 s'],
    [90, '1.5 min'],
    [7_200, '2 h'],
    [604_800, '7 d'],
  ])('%i seconds are %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});
