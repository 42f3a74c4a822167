import * as fc from 'fast-check';
import type { StateToolCall } from '../../../contracts/model-turn.ts';
import type { OutputFault } from '../../../contracts/output-fault.ts';
import type { StateCall, Duties } from '../../../contracts/state-call.ts';
import { engineLimits } from '../../../core/limits.ts';
import { delegationSummary, memberSummary, phaseSummary } from '../../../core/render/labels.ts';
import { renderPhaseDetails } from '../../../core/render/render-work-details.ts';
import { decideAfterCalls, findFullFault } from '../../../core/triad/find-open-duties.ts';
import {
  describeTimeout,
  findDeadline,
  holdClock,
  listSpans,
  nextLook,
  readClock,
  releaseClock,
  startClock,
} from '../../../core/schedule/work-clock.ts';
import { mayRetry, reportPhase } from '../../../core/triad/end-phase.ts';
import { openPhase } from '../../../core/triad/step-phase.ts';
import { viewBegun, viewPhase, noDuties } from '../../../core/triad/phase-state.ts';
import { failureReasons } from '../../../core/turns/turns-state.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { setupOf, specOf } from '../../support/triad-play.ts';
import { output, property } from './builders.ts';
import { checkSettled } from '../../../core/triad/roles.ts';
import type { PlannedExecutor } from '../../../contracts/delegation.ts';

const fault: OutputFault = { path: 'claim_id', reason: 'there is no claim "c9"', hint: 'Try: c1' };
const loads = { tool_use_id: 't1', name: 'load_detail', input_ref: 'r' };

function calls(call: StateCall): StateToolCall {
  return { tool_use_id: 't2', name: call.tool, state: { ok: true, call } };
}

const concedes = calls({
  tool: 'negotiate_response',
  claim_id: 'a.ann',
  decision: 'CONCEDE',
  reason_ref: 'r',
  revised_ref: null,
});
const looks = calls({ tool: 'get_current_claims', section_id: null });
const verdictOf = (...args: Parameters<typeof decideAfterCalls>): string =>
  decideAfterCalls(...args).type;
const met = (criterion_id: string) => ({
  criterion_id,
  evidence: 'Section 2 of the report.',
  where: { kind: 'heading' as const, value: 'Report' },
});
const giving: Duties = { ...noDuties, output: true };

describe('what follows from the calls of a member', () => {
  it('DT1: a refused call spends an attempt, even when nothing is owed', () => {
    const verdict = decideAfterCalls([concedes], [fault], [], noDuties);
    expect(verdict).toEqual({ type: 'invalid', faults: [fault] });
  });

  it('DT2: the turn ends when nothing is owed, refused or to be read', () => {
    expect(verdictOf([concedes], [], [], noDuties)).toBe('finished');
    expect(verdictOf([concedes], [], [fault], noDuties)).toBe('go_on');
    expect(verdictOf([concedes, looks], [], [], noDuties)).toBe('go_on');
    expect(verdictOf([concedes, loads], [], [], noDuties)).toBe('go_on');
  });

  it('DT3: calls alone are no output', () => {
    expect(decideAfterCalls([concedes], [], [], giving)).toEqual({ type: 'go_on' });
  });

  it('DT4: calls are answered until a reply was told all that fits', () => {
    const max = engineLimits.stateAnswersCharsMax;
    expect(findFullFault(max - 1)).toBeNull();
    expect(findFullFault(max)).toMatchObject({ hint: 'Try: fewer queries in one reply' });
  });
});

describe('another attempt at a phase', () => {
  const confirmed = { effect_id: 'e1', target: 'a.md', state: 'confirmed' } as const;

  it('PA1: never more than the attempts of the limit', () => {
    const max = engineLimits.phaseAttemptsMax;
    for (const why of failureReasons) expect(mayRetry(why, max, [])).toBe(false);
    expect(mayRetry('timed_out', max - 1, [])).toBe(true);
  });

  it('PA2: only for what may end otherwise', () => {
    const tried = failureReasons.filter((why) => mayRetry(why, 1, [confirmed]));
    expect(tried).toEqual(['invalid_output', 'unknown_stop', 'no_message', 'timed_out']);
  });

  it('PA3: not while nobody knows what a call has changed', () => {
    const unclear = { ...confirmed, state: 'unverified' } as const;
    expect(mayRetry('timed_out', 1, [confirmed, unclear])).toBe(false);
  });
});

describe('time limits of a phase', () => {
  const timeouts = {
    turn_seconds: 10,
    dispatch_seconds: 15,
    round_seconds: 30,
    phase_seconds: 100,
  };
  const turns = [
    { member: 'ann', since_ms: 1_000, dispatch: 1 },
    { member: 'bob', since_ms: 4_000, dispatch: 1 },
  ];

  it('DL1, LS1: the earliest limit counts, of the phase, its round, a dispatch or a turn', () => {
    const at = (roundMs: number, phaseMs: number): string | undefined =>
      findDeadline(listSpans(phaseMs, roundMs, turns), timeouts)?.span.limit;
    expect(at(0, 0)).toBe('turn_seconds');
    expect(at(-25_000, 0)).toBe('round_seconds');
    expect(at(0, -95_000)).toBe('phase_seconds');
    const slow = { ...timeouts, turn_seconds: 20 };
    expect(findDeadline(listSpans(0, 0, turns), slow)?.span.limit).toBe('dispatch_seconds');
  });

  it('DL2: no limit is passed unseen, also of what begins meanwhile', () => {
    const seconds = fc.integer({ min: 1, max: 100 });
    const limits = fc.record({
      turn_seconds: seconds,
      dispatch_seconds: seconds,
      round_seconds: seconds,
      phase_seconds: seconds,
    });
    fc.assert(
      fc.property(limits, fc.nat(9_000), fc.nat(100_000), (any, now, later) => {
        const deadline = findDeadline(listSpans(0, 0, turns), any);
        const look = now + nextLook(deadline, any, now);
        const begun = { member: 'cid', since_ms: now + later, dispatch: 2 };
        const next = findDeadline(listSpans(0, 0, [...turns, begun]), any);
        const due = Math.min(deadline?.at_ms ?? Infinity, next?.at_ms ?? Infinity);
        expect(look).toBeLessThanOrEqual(Math.max(now + 1, due));
      }),
      property,
    );
  });

  it('DL2: the clock is looked at no more often than that takes', () => {
    const span = { limit: 'turn' as 'turn' | 'phase', since_ms: 0, at_work: [] };
    const look = (now: number) => nextLook({ span, at_ms: 7_000 }, { turn: 10, phase: 90 }, now);
    expect([look(0), look(9_000)]).toEqual([7_000, 1]);
    expect(nextLook(null, { turn: 10, phase: 90 }, 0)).toBe(10_000);
  });

  it('LS3: a turn is not limited while its member waits for another, and anew after that', () => {
    const starts = [null, 9_000].map((acts_since_ms) =>
      listSpans(0, 0, [{ member: 'ann', dispatch: 1, since_ms: 1_000, acts_since_ms }]).flatMap(
        ({ limit, since_ms }) => (limit === 'turn_seconds' ? [since_ms] : []),
      ),
    );
    expect(starts).toEqual([[], [9_000]]);
  });

  it('LS2: it is told what was over and who was at work', () => {
    const spans = listSpans(0, -90_000, turns);
    const deadline = findDeadline(spans, timeouts);
    if (deadline === null) throw new Error('nothing is limited');
    expect(describeTimeout(deadline, timeouts)).toBe(
      '30 s for one round (round_seconds) are over. At work: "ann", "bob".',
    );
  });
});

describe('the time of work', () => {
  it('WC1: it stands while anything holds it', () => {
    const held = holdClock(holdClock(startClock(1_000), 3_000), 4_000);
    expect(readClock(held, 9_000)).toBe(2_000);
    expect(readClock(releaseClock(held, 9_000), 20_000)).toBe(2_000);
  });

  it('WC2: it goes on when nothing holds it any more', () => {
    const held = holdClock(holdClock(startClock(1_000), 3_000), 4_000);
    const free = releaseClock(releaseClock(held, 9_000), 10_000);
    expect(readClock(free, 15_000)).toBe(7_000);
    expect(readClock(releaseClock(free, 15_000), 16_000)).toBe(8_000);
  });
});

const outputs = (...ids: readonly string[]) =>
  output({ coverage: { criteria_met: ids.map(met), criteria_unmet: [] } });
const planned = (criterion_ids: string[], riskOf?: string[]) => ({
  criterion_ids,
  sections: [
    { section_id: 'price' },
    { section_id: 'risk', ...(riskOf !== undefined && { criterion_ids: riskOf }) },
  ],
});

describe('a phase, for rules and people', () => {
  const setup = setupOf('dialectic', ['price', 'risk']);
  const { state } = openPhase(setup, 'deliberate', { spec: specOf(setup), summary_ref: null });

  /** Only `risk` is disputed. */
  const half = {
    ...state.spec,
    sections: state.spec.sections.map((one) =>
      one.section_id === 'price' ? { ...one, owner: 'pro' } : one,
    ),
  };

  it('CS1: what nobody owns is not met', () => {
    const plan = planned(['price', 'risk']);
    expect(checkSettled(outputs('price'), state.spec, plan)).toEqual([
      expect.objectContaining({ path: 'coverage.criteria_met[0].criterion_id' }),
    ]);
    expect(checkSettled(outputs('price'), half, plan)).toEqual([]);
  });

  it('CS2: finding F12: a disputed section leaves unmet what it carries, whatever its name', () => {
    const all = checkSettled(outputs('agreed', 'tested'), half, planned(['agreed', 'tested']));
    expect(all.map(({ path }) => path)).toEqual([
      'coverage.criteria_met[0].criterion_id',
      'coverage.criteria_met[1].criterion_id',
    ]);
    expect(all[0]).toMatchObject({
      reason: 'the triad did not agree on section "risk", and the criterion rests on it',
      hint: expect.stringMatching(/^Try: /),
    });
    const linked = planned(['agreed', 'tested'], ['tested']);
    expect(checkSettled(outputs('agreed'), half, linked)).toEqual([]);
    expect(checkSettled(outputs('tested'), half, linked)).toHaveLength(1);
    const byName = planned(['price', 'risk', 'style']);
    expect(checkSettled(outputs('price', 'style'), half, byName)).toEqual([]);
  });

  it('PR1: a failed attempt is reported with all that there was', () => {
    const failure = { agent: 'con', phase: 'deliberate', message: 'no valid output' } as const;
    const end = { attempt: 1, status: 'failed', failure, usage: noUsage } as const;
    expect(reportPhase(state, end)).toMatchObject({
      ...end,
      type: 'dialectic',
      phase: 'deliberate',
      members: setup.members,
      spec: state.spec,
      summary_ref: null,
    });
  });

  it('PD1: the page begins with what it waits for, and tells round and who is at work', () => {
    const page = renderPhaseDetails(viewPhase(state, 'running'), 'Which region?');
    expect(page.startsWith('## Waiting\n\nWhich region?')).toBe(true);
    expect(page).toContain('## deliberate · round 1 of 3');
    expect(page).toContain('**At work:** pro');
    expect(renderPhaseDetails(viewPhase(state, 'done'), '')).not.toContain('At work');
  });

  it('PD1: what only the phase knows, the page of its delegation leaves to it', () => {
    const page = renderPhaseDetails(viewBegun(setup, 'negotiate', state.spec), '');
    expect(page).toMatch(/^## negotiate\n\n- \*\*State:\*\* running\n/);
    expect(page).toContain('on the page of the phase');
  });

  it('PD2: the page lists sections and claims', () => {
    const view = viewPhase(state, 'running');
    const claim = {
      claim_id: 'price.pro',
      section_id: 'price',
      member: 'pro',
      revision: 2,
      state: 'open',
    } as const;
    const page = renderPhaseDetails({ ...view, claims: [claim] }, '');
    expect(page).toContain('- `risk` · open · nobody owns it · version 1');
    expect(page).toContain('- `price.pro` on `price` · by pro · revision 2 · open');
  });

  it('labels say who does what where', () => {
    const place = { member: 'critic', phase: 'negotiate', round: 2 } as const;
    expect(memberSummary(place)).toBe('critic · negotiate · round 2');
    expect(memberSummary(place, 'load_detail')).toBe('critic · negotiate · round 2 · load_detail');
    const delegation = { agent_id: 'writer', title: 'Prices' };
    const by = (executor: PlannedExecutor) => delegationSummary({ ...delegation, executor });
    expect(by({ kind: 'agent' })).toBe('writer · Prices');
    expect(by({ kind: 'triad', type: setup.type })).toBe('dialectic triad · Prices');
    expect(by({ kind: 'team', team_id: null })).toBe('team · Prices');
    expect(by({ kind: 'team', team_id: 'desk' })).toBe('team desk · Prices');
    expect(phaseSummary('dialectic', 'negotiate', 'Prices')).toBe('dialectic · negotiate · Prices');
  });
});
