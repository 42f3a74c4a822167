import { describeMoment, describeWait } from '../../../core/render/questions.ts';
import { formatDuration } from '../../../core/text/format.ts';
import { turnSummary } from '../../../core/render/labels.ts';
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

  it('WA2: a wait tells of reminders and of who else was asked', () => {
    const escalate_to = { person: 'Maria', after_seconds: 7_200 };
    const asked = question({ question_id: 'q3', escalate_to, escalated_at: 9, reminded: 2 });
    expect(describeWait(asked)).toBe(
      'waiting for your answer to q3, now also for Maria, reminded 2 times: Which region?',
    );
    expect(describeWait({ ...asked, escalated_at: null, reminded: 1 })).toBe(
      'waiting for your answer to q3, reminded once: Which region?',
    );
    const long = {
      ...asked,
      escalate_to: { person: 'M'.repeat(80), after_seconds: 1 },
      text: 'y '.repeat(900),
      deadline_seconds: 60,
      default_answer: 'x'.repeat(500),
    };
    expect(describeWait(long).length).toBeLessThanOrEqual(120);
    expect(describeWait({ ...long, deadline_seconds: null }).length).toBeLessThanOrEqual(120);
  });

  it('WA3: each timer of a question says what it brings', () => {
    const escalate_to = { person: 'Maria', after_seconds: 7_200 };
    const asked = question({ question_id: 'q3', escalate_to, default_answer: 'eu' });
    const command = 'npm run planwave -- answer run-1 q3';
    expect(describeMoment('hand_over', asked, 'run-1')).toBe(
      `q3 is also for Maria after 2 h: Which region? · ${command}`,
    );
    expect(describeMoment('reminder', asked, 'run-1')).toBe(`${describeWait(asked)} · ${command}`);
    const ending = { ...asked, deadline_seconds: 60 };
    expect(describeMoment('deadline', ending, 'run-1')).toBe(
      `waiting for your answer to q3 (default: eu in 1 min) · ${command}`,
    );
    expect(describeMoment('reminder', ending, 'run-1')).toBe(
      `reminder 1 about q3: Which region? · ${command}`,
    );
  });

  it('finding U5: the timer of a question carries the command that answers, however long both are', () => {
    const asked = question({ question_id: 'q3', text: 'Which region? '.repeat(20) });
    const name = describeMoment('reminder', asked, 'r'.repeat(40));
    expect(name).toMatch(
      /^waiting for your answer to q3: .*… · npm run planwave -- answer r{40} q3$/,
    );
    expect(name.length).toBeLessThanOrEqual(120);
    // A workflow id that was typed by hand may be longer than a label.
    expect(describeMoment('reminder', asked, 'r'.repeat(200))).toBe(describeWait(asked));
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
