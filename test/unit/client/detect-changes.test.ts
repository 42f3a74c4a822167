import type { TaskView, TriadPhaseView } from '../../../contracts/views.ts';
import { detectChanges } from '../../../client/cli/follow/follow-event.ts';
import { formatEvent } from '../../../client/cli/follow/format-event.ts';
import type { RunSnapshot } from '../../../client/cli/follow/read-snapshot.ts';
import { createPaint } from '../../../client/cli/terminal-text.ts';
import { taskView, teamView } from '../../support/team-fixtures.ts';
import {
  answeredQuestion,
  delegation,
  listing,
  question,
  snapshot,
  status,
  wave,
} from './support/samples.ts';
import type { TriadPhase } from '../../../contracts/triad.ts';

const paint = createPaint(false);
const types = (...args: Parameters<typeof detectChanges>): string[] =>
  detectChanges(...args).map((event) => event.type);

const working = snapshot({ wave: wave({ delegations: [delegation()] }) });

it('tells everything at the first look, and nothing when nothing changed', () => {
  expect(types(null, working)).toEqual(['phase', 'wave', 'delegation']);
  expect(types(working, structuredClone(working))).toEqual([]);
});

it('tells the cells of an evaluation when they or its waits change', () => {
  const cells = { at_work: [], passed: 1, not_passed: 0, cached: 0, newest_not_passed: [] };
  const of = (waiting: number, ...waiting_for: string[]): RunSnapshot =>
    snapshot({
      status: status({ phase: 'working', waiting_for, evaluation: { ...cells, waiting } }),
    });
  expect(types(of(2), of(2))).toEqual([]);
  expect(detectChanges(of(2), of(2, 'eval-1: parked: no key'))).toMatchObject([
    { type: 'phase', waiting_for: ['eval-1: parked: no key'] },
  ]);
  const [told, ...others] = detectChanges(of(2), of(1));
  expect(others).toEqual([]);
  expect(told && formatEvent(told, paint)).toEqual([
    'run: working · 1 of 2 cells done (0 from before), 1 passed, 0 at work, 1 to start',
  ]);
});

const at = (...stages_at_work: string[]): RunSnapshot =>
  snapshot({ status: status({ stages_at_work }) });

it('tells each stage of a design when it begins', () => {
  const both = at('file structure', 'checkpoints');
  expect(detectChanges(at('file structure'), both)).toEqual([
    { type: 'stages', run_id: 'run-1', stages: ['checkpoints'] },
  ]);
  expect(types(both, at('checkpoints'))).toEqual([]);
  const [told] = detectChanges(snapshot({ status: status() }), both);
  expect(told && formatEvent(told, paint)).toEqual(['design: file structure; checkpoints']);
});

it('tells no progress inside a turn', () => {
  const activity = {
    id: 'e/1',
    activity_type: 'modelTurn',
    attempt: 1,
    last_failure: null,
    heartbeat: {},
  };
  const later = snapshot({ wave: wave({ delegations: [delegation({ activity })] }) });
  expect(types(working, later)).toEqual([]);
});

it('tells a change of state or of its reason', () => {
  const later = snapshot({ wave: wave({ delegations: [delegation({ state: 'completed' })] }) });
  expect(detectChanges(working, later)).toMatchObject([
    { type: 'delegation', wave: 1, delegation: { state: 'completed' } },
  ]);
});

function inPhase(phase: TriadPhase, round: number): RunSnapshot {
  const triad_phase: TriadPhaseView = {
    type: 'dialectic',
    phase,
    state: 'running',
    round,
    rounds_max: 3,
    at_work: ['critic'],
    sections: [],
    claims: [],
  };
  return snapshot({ wave: wave({ delegations: [delegation({ triad_phase })] }) });
}

it('tells each phase of a triad once', () => {
  expect(types(working, inPhase('deliberate', 1))).toEqual(['delegation']);
  expect(types(inPhase('deliberate', 1), inPhase('deliberate', 2))).toEqual([]);
  expect(types(inPhase('deliberate', 2), inPhase('negotiate', 1))).toEqual(['delegation']);
});

function withTasks(...tasks: readonly TaskView[]): RunSnapshot {
  const team_view = teamView({ tasks });
  return snapshot({
    wave: wave({
      delegations: [delegation({ executor: { kind: 'team', team_id: null }, team_view })],
    }),
  });
}

it('tells when a task of a team begins, is tried again and ends, and nothing of its turns', () => {
  const begun = withTasks(taskView('d1'));
  expect(types(withTasks(), begun)).toEqual(['task']);
  expect(types(begun, withTasks(taskView('d1', { turns: 2 })))).toEqual([]);
  expect(types(begun, withTasks(taskView('d1', { attempts: 2 })))).toEqual(['task']);
  const ended = withTasks(taskView('d1', { state: 'failed', reason: 'No reply.' }));
  const [event, ...more] = detectChanges(begun, ended);
  expect(more).toEqual([]);
  expect(event === undefined ? [] : formatEvent(event, paint)).toEqual([
    'wave 1: ✗ design.d1 (researcher) Task d1 · failed · 1 turn · 1.0k tokens in, 100 out · $0.002 · No reply.',
  ]);
});

it('tells the tasks of a team in a team on their own', () => {
  const team = teamView({ tasks: [taskView('d1.d1')] });
  expect(
    detectChanges(
      withTasks(taskView('d1')),
      withTasks(taskView('d1', { executor: { kind: 'team', team_id: null, view: team } })),
    ),
  ).toEqual([{ type: 'task', run_id: 'run-1', wave: 1, task: taskView('d1.d1') }]);
});

it('tells a question with the command that answers it, and what became of it', () => {
  const asked = snapshot({ questions: [question()] });
  expect(detectChanges(snapshot(), asked)).toMatchObject([
    { type: 'question', command: "npm run planwave -- answer run-1 q1 'your answer'" },
  ]);
  const told = (after: RunSnapshot): string[] =>
    detectChanges(asked, after).flatMap((event) => formatEvent(event, paint));
  expect(told(snapshot({ answered: [answeredQuestion()] }))).toEqual(['q1 is answered']);
  expect(told(snapshot())).toEqual(['q1 is no longer open']);
});

it('tells when no worker answers, and when one is back', () => {
  const away = snapshot({ status: null, note: 'No worker is running.' });
  expect(detectChanges(snapshot(), away)).toMatchObject([
    { type: 'notice', text: 'No worker is running.' },
  ]);
  expect(detectChanges(away, snapshot())).toMatchObject([
    { type: 'notice', text: 'A worker answers again.' },
  ]);
});

it('tells the end of a wave once', () => {
  const summary = {
    wave: 1,
    io_status: 'OK',
    completed: 1,
    failed: 0,
    skipped: 0,
    criteria_met: 1,
    criteria_open: 0,
    usage: wave().usage,
  } as const;
  const over = snapshot({
    done: [summary],
    wave: wave({ phase: 'done', delegations: [delegation({ state: 'completed' })] }),
  });
  expect(types(working, over)).toEqual(['delegation', 'wave_done']);
});

it('tells when people are reminded of a question, or somebody else is asked', () => {
  const before = snapshot({ questions: [question()] });
  const urged = question({ reminded: 1 });
  const [event, ...more] = detectChanges(before, snapshot({ questions: [urged] }));
  expect(more).toEqual([]);
  expect(event).toEqual({ type: 'question_urged', run_id: 'run-1', question: urged });
  expect(event === undefined ? [] : formatEvent(event, paint)).toEqual([
    'q1 · high · from researcher in gather-facts, wave 1, reminded once',
    '  Which region?',
  ]);
  expect(types(before, before)).toEqual([]);
});

it('leaves the phase of a closed run to its end', () => {
  const closed = snapshot({
    run: listing({ execution: 'completed', phase: 'completed' }),
    status: status({ phase: 'completed' }),
  });
  expect(types(snapshot(), closed)).toEqual([]);
});

it('words every event in plain lines', () => {
  const events = detectChanges(
    null,
    snapshot({ plan_summary: 'Facts first.', wave: working.wave, questions: [question()] }),
  );
  expect(events.flatMap((event) => formatEvent(event, paint))).toEqual([
    'run: working',
    'wave 1: agents work · Facts first.',
    'wave 1: ● gather-facts (researcher) Gather the facts · running',
    'q1 · high · from researcher in gather-facts, wave 1',
    '  Which region?',
    '  why it matters: Prices differ.',
    '  without an answer: it waits',
    '  answer: your answer',
    "  answer with: npm run planwave -- answer run-1 q1 'your answer'",
  ]);
});
