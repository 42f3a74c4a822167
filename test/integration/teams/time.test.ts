import type { RecordedCall, Reply } from '../../../rehearsal/script.ts';
import { playTeam, statusesOf } from '../../support/play-team.ts';
import type { PlayedTeam } from '../../support/play-team.ts';
import {
  does,
  gives,
  leaderCalls,
  leads,
  taskCalls,
  taskCriterion,
  teamInput,
} from '../../support/scripted-team.ts';
import { completed } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const well = { ...completed(taskCriterion), compact_md: 'The answer is forty-two.' };
const done = { output: completed(taskCriterion) };

/** Silent in the middle of a text: the provider has counted the input by then. */
const silent: Reply = { stall: 'in-stream', json: { ...well, compact_md: 'Half of it' } };

/** A reply that is no message: begun anew, it may be one. */
const noMessage: Reply = { raw: '<html>busy</html>' };

const outcomesOf = (calls: readonly RecordedCall[]) => calls.map(({ outcome }) => String(outcome));

describe('a member over its time', () => {
  let played: PlayedTeam;

  beforeAll(async () => {
    played = await playTeam(
      stage,
      [
        ...leads([[gives('researcher'), gives('analyst'), gives('writer')], done]),
        does({ agent: 'analyst' }, silent),
        // One attempt of three tries, and another that never ends.
        ...[1, 2, 3].map((nth) => does({ agent: 'writer', nth }, noMessage)),
        does({ agent: 'writer' }, silent),
      ],
      teamInput(['researcher', 'analyst', 'writer'], { allow_parallel: true, member_timeout: 4 }),
    );
  }, 60_000);

  it('case 8.2: is cut off in its second attempt too, and the leader goes on with what there is', () => {
    const { result, report, heard } = played;
    expect(report.tasks.map(({ attempts }) => attempts)).toEqual([1, 1, 2]);
    expect(outcomesOf(taskCalls(played, { agent: 'writer' })).at(-1)).toBe('client-closed');
    expect(heard(2).map(({ is_error }) => is_error)).toEqual([false, true, true]);
    for (const { text } of heard(2).slice(1)) {
      expect(text).toContain('ran out of time');
      expect(text).toContain('4 s (member_timeout)');
      expect(text).toContain('Half of it');
    }
    expect(result.status).toBe('completed');
  });

  it('fault 30: its socket is closed, what it used is counted, and what it wrote is named as partial', () => {
    const { result, report, page } = played;
    expect(statusesOf(report)).toEqual({ d1: 'completed', d2: 'timed_out', d3: 'timed_out' });
    expect(outcomesOf(taskCalls(played, { agent: 'analyst' }))).toEqual(['client-closed']);
    for (const { usage } of report.tasks.slice(1)) {
      expect(usage.calls).toBeGreaterThan(0);
      expect(usage.input_tokens + usage.cache_creation_input_tokens).toBeGreaterThan(0);
    }
    expect(result.team).toMatchObject({ partial: true, tasks: { completed: 1, timed_out: 2 } });
    expect(page).toContain('Half of it');
    expect(page).toContain('4 s (member_timeout) were over');
  });
});

describe('a team over its time', () => {
  const ids = ['researcher', 'analyst', 'writer', 'reviewer', 'engineer'];
  const reason = "the team's 3 s (timeout) were over";
  let played: PlayedTeam;

  beforeAll(async () => {
    played = await playTeam(
      stage,
      [
        ...leads([ids.map((id) => gives(id, `Do it as ${id}.`)), done]),
        does({ agent: 'researcher' }, { json: well }),
        does({}, silent),
      ],
      teamInput(ids, { allow_parallel: true, max_parallel: 2, timeout: 3, member_timeout: 500 }),
    );
  }, 60_000);

  it('case 3.4: what is left of its parallel tasks is cut off, and the result is partial', () => {
    expect(statusesOf(played.report)).toEqual({
      d1: 'completed',
      d2: 'timed_out',
      d3: 'timed_out',
      d4: 'not_started',
      d5: 'not_started',
    });
    expect(outcomesOf(taskCalls(played)).toSorted()).toEqual([
      'answered',
      'client-closed',
      'client-closed',
    ]);
    expect(played.result).toMatchObject({ status: 'failed', reason, team: { partial: true } });
  });

  it('case 5.1: no member has more time than its team, which is said, and holds', () => {
    const { report, result } = played;
    expect(report.setup).toMatchObject({ timeout: 3, member_timeout: 3 });
    expect(result.team?.notes.join()).toMatch(/member_timeout.*500.*3/u);
    expect(report.tasks.filter(({ status }) => status === 'timed_out')).toHaveLength(2);
  });

  it('case 8.3: nobody is called any more, and what came is handed on', () => {
    const { report, output, page, result } = played;
    expect(report).toMatchObject({ status: 'timed_out', reason });
    expect([leaderCalls(played).length, report.leader.turns]).toEqual([1, 1]);
    for (const text of [output, page, result.answer]) expect(text).toContain(well.compact_md);
  });

  it('case 11.1: the clock is read once for all: they end together, for the same reason', () => {
    const { tasks } = played.report;
    expect([...new Set(tasks.slice(1).map((task) => task.reason))]).toEqual([reason]);
    expect(taskCalls(played)).toHaveLength(3);
  });

  it('fault 30: the sockets are closed, what was used is counted, and the partial results are named', () => {
    const { report, output, page } = played;
    for (const { usage } of report.tasks.slice(1, 3)) expect(usage.calls).toBe(1);
    expect(played.calls().every(({ outcome }) => outcome !== null)).toBe(true);
    for (const text of [output, page]) {
      expect(text).toContain('Half of it');
      expect(text).toContain(reason);
      for (const { delegation_id } of report.tasks) expect(text).toContain(delegation_id);
    }
  });
});

it('case 8.3: the time of the team cuts off its leader too, and what members brought is not lost', async () => {
  const played = await playTeam(
    stage,
    [...leads([[gives('researcher')], silent]), does({}, { json: well })],
    teamInput(['researcher'], { timeout: 2 }),
  );
  const { result, report, output } = played;
  expect(outcomesOf(leaderCalls(played))).toEqual(['answered', 'client-closed']);
  expect(report).toMatchObject({ status: 'timed_out', leader: { usage: { calls: 2 } } });
  expect(result).toMatchObject({ status: 'failed', reason: "the team's 2 s (timeout) were over" });
  expect(output).toContain(well.compact_md);
}, 30_000);
