import type { RecordedCall, Reply } from '../../../rehearsal/script.ts';
import { playSideBySide, statusesOf } from '../../support/play-team.ts';
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
import { teamOf } from '../../support/executors.ts';

const { stage } = useStage();

const well = { ...completed(taskCriterion), compact_md: 'The answer is forty-two.' };
const done = { output: completed(taskCriterion) };

/** Silent in the middle of a text: the provider has counted the input by then. */
const silent: Reply = { stall: 'in-stream', json: { ...well, compact_md: 'Half of it' } };

/** A reply that is no message: begun anew, it may be one. */
const noMessage: Reply = { raw: '<html>busy</html>' };

const outcomesOf = (calls: readonly RecordedCall[]) => calls.map(({ outcome }) => String(outcome));

const ids = ['researcher', 'analyst', 'writer', 'reviewer', 'engineer'];

/** Seconds, with room for a slow machine to come to where the test wants to see the time end. */
const seconds = { member: 16, team: 14, leader: 12 } as const;

const overMember = {
  rules: [
    ...leads([[gives('researcher'), gives('analyst'), gives('writer')], done]),
    does({ agent: 'analyst' }, silent),
    // One attempt of three tries, and another that never ends.
    ...[1, 2, 3].map((nth) => does({ agent: 'writer', nth }, noMessage)),
    does({ agent: 'writer' }, silent),
  ],
  input: teamInput(['researcher', 'analyst', 'writer'], {
    allow_parallel: true,
    member_timeout: seconds.member,
  }),
};

const overTeam = {
  rules: [
    ...leads([ids.map((id) => gives(id, `Do it as ${id}.`)), done]),
    does({ agent: 'researcher' }, { json: well }),
    does({}, silent),
  ],
  input: teamInput(ids, {
    allow_parallel: true,
    max_parallel: 2,
    timeout: seconds.team,
    member_timeout: 500,
  }),
};

const overLeader = {
  rules: [...leads([[gives('researcher')], silent]), does({}, { json: well })],
  input: teamInput(['researcher'], { timeout: seconds.leader }),
};

let played: readonly PlayedTeam[];
beforeAll(async () => {
  played = await playSideBySide(stage, [overMember, overTeam, overLeader]);
});

function playedAt(at: number): PlayedTeam {
  const one = played[at];
  if (one === undefined) throw new Error(`Team ${at} was not played.`);
  return one;
}

describe('a member over its time', () => {
  it('case 8.2: is cut off in its second attempt too, and the leader goes on with what there is', () => {
    const { result, report, heard, calls } = playedAt(0);
    expect(report.tasks.map(({ attempts }) => attempts)).toEqual([1, 1, 2]);
    expect(outcomesOf(taskCalls({ calls }, { agent: 'writer' })).at(-1)).toBe('client-closed');
    expect(heard(2).map(({ is_error }) => is_error)).toEqual([false, true, true]);
    for (const { text } of heard(2).slice(1)) {
      expect(text).toContain('ran out of time');
      expect(text).toContain(`${seconds.member} s (member_timeout)`);
      expect(text).toContain('Half of it');
    }
    expect(result.status).toBe('completed');
  });

  it('fault 30: its socket is closed, what it used is counted, and what it wrote is named as partial', () => {
    const { result, report, page, calls } = playedAt(0);
    expect(statusesOf(report)).toEqual({ d1: 'completed', d2: 'timed_out', d3: 'timed_out' });
    expect(outcomesOf(taskCalls({ calls }, { agent: 'analyst' }))).toEqual(['client-closed']);
    for (const { usage } of report.tasks.slice(1)) {
      expect(usage.calls).toBeGreaterThan(0);
      expect(usage.input_tokens + usage.cache_creation_input_tokens).toBeGreaterThan(0);
    }
    expect(teamOf(result)).toMatchObject({ partial: true, tasks: { completed: 1, timed_out: 2 } });
    expect(page).toContain('Half of it');
    expect(page).toContain(`${seconds.member} s (member_timeout) were over`);
  });
});

describe('a team over its time', () => {
  const reason = `the team's ${seconds.team} s (timeout) were over`;

  it('case 3.4: what is left of its parallel tasks is cut off, and the result is partial', () => {
    const { result, report, calls } = playedAt(1);
    expect(statusesOf(report)).toEqual({
      d1: 'completed',
      d2: 'timed_out',
      d3: 'timed_out',
      d4: 'skipped',
      d5: 'skipped',
    });
    expect(outcomesOf(taskCalls({ calls })).toSorted()).toEqual([
      'answered',
      'client-closed',
      'client-closed',
    ]);
    expect(result).toMatchObject({
      status: 'failed',
      reason,
      executor: { work: { partial: true } },
    });
  });

  it('case 5.1: no member has more time than its team, which is said, and holds', () => {
    const { report, result } = playedAt(1);
    expect(report.setup).toMatchObject({ timeout: seconds.team, member_timeout: seconds.team });
    expect(teamOf(result)?.notes.join()).toMatch(
      new RegExp(`member_timeout.* 500 s to ${seconds.team} s`, 'u'),
    );
    expect(report.tasks.filter(({ status }) => status === 'timed_out')).toHaveLength(2);
  });

  it('case 8.3: nobody is called any more, and what came is handed on', () => {
    const { report, output, page, result, calls } = playedAt(1);
    expect(report).toMatchObject({ status: 'timed_out', reason });
    expect([leaderCalls({ calls }).length, report.leader.turns]).toEqual([1, 1]);
    for (const text of [output, page, result.answer]) expect(text).toContain(well.compact_md);
  });

  it('case 11.1: the clock is read once for all: they end together, for the same reason', () => {
    const { report, calls } = playedAt(1);
    expect([...new Set(report.tasks.slice(1).map((task) => task.reason))]).toEqual([reason]);
    expect(taskCalls({ calls })).toHaveLength(3);
  });

  it('fault 30: the sockets are closed, what was used is counted, and the partial results are named', () => {
    const { report, output, page, calls } = playedAt(1);
    for (const { usage } of report.tasks.slice(1, 3)) expect(usage.calls).toBe(1);
    expect(calls().every(({ outcome }) => outcome !== null)).toBe(true);
    for (const text of [output, page]) {
      expect(text).toContain('Half of it');
      expect(text).toContain(reason);
      for (const { delegation_id } of report.tasks) expect(text).toContain(delegation_id);
    }
  });
});

it('case 8.3: the time of the team cuts off its leader too, and what members brought is not lost', () => {
  const { result, report, output, calls } = playedAt(2);
  expect(outcomesOf(leaderCalls({ calls }))).toEqual(['answered', 'client-closed']);
  expect(report).toMatchObject({ status: 'timed_out', leader: { usage: { calls: 2 } } });
  const reason = `the team's ${seconds.leader} s (timeout) were over`;
  expect(result).toMatchObject({ status: 'failed', reason });
  expect(output).toContain(well.compact_md);
});
