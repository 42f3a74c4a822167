import type { DelegationView, RunPhase, TriadPhaseView } from '../../../contracts/views.ts';
import { engineLimits } from '../../../core/limits.ts';
import { countBytes } from '../../../core/text/markdown.ts';
import {
  renderDelegationDetails,
  renderWaveDetails,
} from '../../../core/render/render-work-details.ts';
import { renderRunDetails } from '../../../core/render/render-run-details.ts';
import type { RunDetails } from '../../../core/render/render-run-details.ts';
import { criterion, question, usage } from './builders.ts';

const spiteful = '# x\n\n```\n- [a](http://b) <img src=x> **b** `c` _d_ \u202e 1. *';

const view: RunDetails = {
  run_id: 'my-run',
  goal: 'Compare three databases',
  phase: 'working',
  wave: 2,
  waves_allowed: 5,
  questions: [],
  plan: null,
  waves: [],
  usage: usage({ cost_micro_usd: 12_300, input_tokens: 1_500 }),
  criteria: [criterion('goal-1'), criterion('a', 'met')],
  answer: '',
  result_path: null,
  paused_reason: null,
  parked_reason: null,
  budget: '',
  at_work: null,
  rejected: [],
  rejected_total: 0,
};

const choice = question({ expected_answer_format: 'choice', choices: ["it's", 'b'] });

const row = (over: Partial<DelegationView>): DelegationView => ({
  delegation_id: 'd1',
  agent_id: 'researcher',
  title: 'Prices',
  depends_on: [],
  executor: { kind: 'agent' },
  state: 'running',
  reason: '',
  workflow_id: 'my-run/wave-001/d1',
  ...over,
});

const planned = (delegation_id: string, ...depends_on: string[]) => ({
  delegation_id,
  agent_id: 'researcher',
  title: delegation_id,
  depends_on,
  executor: { kind: 'agent' as const },
});

describe('the page of a run', () => {
  it('RD1: begins with the question and the commands that answer it', () => {
    const text = renderRunDetails({ ...view, phase: 'waiting_for_user', questions: [choice] });
    expect(text).toMatch(
      /^## One question waits for you\n\n### q1 · high · from `researcher` in `d1`/,
    );
    expect(text).toContain(String.raw`npm run planwave -- answer my-run q1 'it'\''s'`);
    expect(text).toContain('temporal workflow signal --workflow-id my-run --name answer --input');
    expect(text).toContain("**Answer:** one of `it's`, `b`");
    expect(text).toContain('**Used:** $0.0123 · 1.5k tokens in, 0 out');
    expect(text).toContain('**1 of 2 met**');
  });

  it('RD1: says what was done about a question that nobody answers, and what comes', () => {
    const escalate_to = { person: 'Maria', after_seconds: 7_200 };
    const fresh = renderRunDetails({ ...view, questions: [question({ escalate_to })] });
    expect(fresh).toContain('- **Also for `Maria`:** 2 h after the question was asked');
    const urged = question({ escalate_to, escalated_at: 9, reminded: 2 });
    const late = renderRunDetails({ ...view, questions: [urged] });
    expect(late).toContain('in `d1`, now also for Maria, reminded 2 times');
    expect(late).not.toContain('Also for');
  });

  it('RD1: says what waits for the answer, and what happens without one', () => {
    const plan = {
      wave: 1,
      summary: '',
      expected: null,
      delegations: [planned('d1'), planned('d2', 'd1')],
    };
    const text = renderRunDetails({ ...view, plan, questions: [question()] });
    expect(text).toContain('- **Waiting for it:** `d1`, and after them `d2`');
    expect(text).toContain('- **Without an answer:** it waits');
    expect(renderRunDetails({ ...view, questions: [question()] })).not.toContain('Waiting for it');
  });

  it('RD1: a parked or paused run says so first, and how it goes on', () => {
    const parked = renderRunDetails({ ...view, parked_reason: 'No credit.', questions: [choice] });
    expect(parked).toMatch(/^## Parked: no model call can succeed for now\n\nNo credit\./);
    expect(parked).toContain("--name resume --input '{}'");
    expect(parked).toContain('### q1');
    expect(renderRunDetails({ ...view, paused_reason: '' })).toMatch(/^## Paused\n\nTo go on:/);
    expect(renderRunDetails(view)).toMatch(/^## At work: nothing waits for you/);
  });

  it('RD2: keeps its size, whatever the run holds', () => {
    const long = spiteful.repeat(200);
    const text = renderRunDetails({
      ...view,
      goal: long,
      questions: Array.from({ length: 500 }, (_, i) =>
        question({
          question_id: `q${i}`,
          text: long,
          why_it_matters: long,
          default_answer: long,
          expected_answer_format: 'choice',
          choices: Array.from({ length: 20 }, () => long.slice(0, 200)),
        }),
      ),
      plan: {
        expected: null,
        wave: 2,
        summary: long,
        delegations: Array.from({ length: 500 }, (_, i) => ({
          delegation_id: `d${i}`,
          agent_id: 'a',
          title: long,
          depends_on: ['d0'],
          executor: { kind: 'agent' },
        })),
      },
      rejected: Array.from({ length: 20 }, () => ({
        question_id: null,
        reason: long,
        example: null,
        rejected_at: 1,
      })),
    });
    expect(countBytes(text)).toBeLessThanOrEqual(engineLimits.detailsBytesMax);
    expect(text).toContain('… more is left out here');
  });

  it('RD2: an ordinary run is shown whole', () => {
    const text = renderRunDetails({
      ...view,
      plan: {
        expected: null,
        wave: 2,
        summary: 'Find prices, then compare.',
        delegations: [
          {
            delegation_id: 'd1',
            agent_id: 'researcher',
            title: 'Prices',
            depends_on: [],
            executor: { kind: 'agent' },
          },
          {
            delegation_id: 'd2',
            agent_id: 'writer',
            title: 'Compare',
            depends_on: ['d1'],
            executor: { kind: 'agent' },
          },
        ],
      },
      waves: [
        {
          wave: 1,
          io_status: 'NOT_OK',
          completed: 2,
          failed: 1,
          skipped: 0,
          criteria_met: 1,
          criteria_open: 1,
          usage: usage({ unpriced_calls: 1 }),
        },
      ],
      rejected: [{ question_id: 'q1', reason: 'expected a number', example: null, rejected_at: 1 }],
    });
    expect(text).toContain('- **Compare** · `d2` · writer, after `d1`');
    expect(text).toContain(
      '- **Wave 1: NOT_OK** · 2 completed, 1 failed, 0 skipped · 1 criteria met, 1 open · cost unknown',
    );
    expect(text).toContain('## Messages that were not taken\n\n- expected a number');
  });

  it('says of what is spent that the wave at work is not in it', () => {
    const at_work = 'wave';
    const first = renderRunDetails({
      ...view,
      usage: usage({ calls: 0 }),
      budget: '0 of 5 US$',
      at_work,
    });
    expect(first).toContain('**Used:** usage of the current wave is added when it ends');
    expect(first).toContain('**Budget:** 0 of 5 US$, without the current wave');
    const second = renderRunDetails({ ...view, usage: usage({ calls: 2 }), at_work });
    expect(second).toContain('**Used:** $0.00 · 0 tokens in, 0 out, without the current wave');
    const part = renderRunDetails({ ...view, usage: usage({ calls: 2 }), at_work: 'phase' });
    expect(part).toContain('**Used:** $0.00 · 0 tokens in, 0 out, without the current phase');
  });

  it.each<RunPhase>(['ending', 'completed', 'finished_unmet', 'stopped', 'abandoned', 'failed'])(
    'RD3: nobody is asked anything by a run that is %s',
    (phase) => {
      const text = renderRunDetails({
        ...view,
        phase,
        questions: [question()],
        parked_reason: 'x',
      });
      expect(text).not.toContain('temporal workflow signal');
      expect(text).toContain('## Run');
    },
  );
});

it('RD4: a run that has ended shows its answer first, and where the whole is', () => {
  const ended = { ...view, phase: 'completed', result_path: 'my-run/result.md' } as const;
  const text = renderRunDetails({ ...ended, answer: 'Take the second.\n\n```sh\nrm -rf /\n```' });
  expect(text.split('\n\n## Run')[0]).toBe(
    '## Completed: every criterion is met or waived\n\n## Answer\n\n````text\nTake the second.\n\n```sh\nrm -rf /\n```\n````\n\nThe whole answer: `my-run/result.md` below the artifact home.',
  );
  const long = renderRunDetails({ ...ended, answer: '\u{1F600}'.repeat(20_000) });
  expect(long).toContain('## Answer');
  expect(long).toContain('## Run');
  expect(renderRunDetails(ended)).not.toContain('## Answer');
});

describe('the pages of waves and delegations', () => {
  it('WD1: every delegation is listed with its state and what it waits for', () => {
    const text = renderWaveDetails({
      wave: 1,
      phase: 'dispatching',
      delegations: [
        row({}),
        row({ delegation_id: 'd2', state: 'pending', reason: 'input "p" from d1 (running)' }),
      ],
      usage: usage(),
      at_work: ['my-run/wave-001/d1'],
    });
    expect(text).toBe(
      [
        '## Wave 1: dispatching',
        '1 running, 1 pending',
        '- **running** · Prices · `d1` · researcher\n- **pending** · Prices · `d2` · researcher · input "p" from d1 (running)',
        '$0.00 · 0 tokens in, 0 out, without the one at work',
      ].join('\n\n'),
    );
  });

  it('shows what each delegation has changed, and on the page of the run the sum of the wave', () => {
    const size = { files_total: 2, lines_added: 10, lines_removed: 3 };
    const text = renderWaveDetails({
      wave: 1,
      phase: 'deciding',
      delegations: [row({}), row({ delegation_id: 'd2' })],
      changes: [{ delegation_id: 'd2', ...size }],
      usage: usage(),
      at_work: [],
    });
    expect(text).toContain('`d2` · researcher · 2 files (+10 −3 lines)');
    expect(text.match(/lines\)/gu)).toHaveLength(1);
    const ended = { wave: 1, io_status: null, completed: 2, failed: 0, skipped: 0 };
    const wave = { ...ended, criteria_met: 1, criteria_open: 0, usage: usage(), changed: size };
    expect(renderRunDetails({ ...view, waves: [wave] })).toContain(
      '0 open · 2 files (+10 −3 lines) · $0.00',
    );
  });

  it('WD1: says that a triad does it, here and on the page of the run', () => {
    const triad = { ...row({}), executor: { kind: 'triad', type: 'dialectic' } } as const;
    const wave = {
      wave: 1,
      phase: 'dispatching',
      delegations: [triad],
      usage: usage(),
      at_work: [],
    } as const;
    expect(renderWaveDetails(wave)).toContain('`d1` · dialectic triad, written by researcher');
    const plan = { wave: 1, summary: '', expected: null, delegations: [triad] };
    expect(renderRunDetails({ ...view, plan })).toContain('dialectic triad, written by researcher');
  });

  it.each([
    ['desk', 'team desk, led by researcher'],
    [null, 'team, led by researcher'],
  ])('says that the team %j does it, here and on the page of the run', (team_id, text) => {
    const led = { ...row({}), executor: { kind: 'team', team_id } } as const;
    const wave = {
      wave: 1,
      phase: 'dispatching',
      delegations: [led],
      usage: usage(),
      at_work: [],
    } as const;
    expect(renderWaveDetails(wave)).toContain(`\`d1\` · ${text}`);
    const plan = { wave: 1, summary: '', expected: null, delegations: [led] };
    expect(renderRunDetails({ ...view, plan })).toContain(text);
  });

  it('WD2: a wave of any size keeps the limit', () => {
    const text = renderWaveDetails({
      wave: 1,
      phase: 'dispatching',
      delegations: Array.from({ length: 2_000 }, () => row({ title: spiteful })),
      usage: usage(),
      at_work: [],
    });
    expect(countBytes(text)).toBeLessThanOrEqual(engineLimits.detailsBytesMax);
  });

  it('DD1: a delegation that waits says so first', () => {
    const details = {
      agent_id: 'researcher',
      title: 'Prices',
      turn: 3,
      state: 'waiting' as const,
      waiting_for: 'Which region?',
      usage: usage(),
      executor: { kind: 'agent' as const },
    };
    expect(renderDelegationDetails(details)).toMatch(/^## Waiting\n\nWhich region\?\n\n## Prices/);
    expect(renderDelegationDetails({ ...details, waiting_for: '', state: 'running' })).toMatch(
      /^## Prices\n\n- \*\*State:\*\* running\n- \*\*Agent:\*\* researcher · turn 3/,
    );
  });

  it.each([
    ['working', 'to be verified by tester, attempt 2 of 5'],
    ['verifying', 'being verified by tester, attempt 2 of 5'],
    ['verified', 'verified by tester, attempt 2 of 5'],
    ['unverified', 'not verified by tester, attempt 2 of 5'],
  ] as const)('the pages say who verifies, and in which attempt: %s', (state, text) => {
    const verification = { verified_by: 'tester', state, attempt: 2, attempts_max: 5 };
    const ofDelegation = renderDelegationDetails({
      agent_id: 'writer',
      title: 'Prices',
      turn: 3,
      state: 'running',
      waiting_for: '',
      usage: usage(),
      executor: { kind: 'agent' },
      verification,
    });
    expect(ofDelegation).toContain(`- **Verification:** ${text}\n`);
    const ofWave = renderWaveDetails({
      wave: 1,
      phase: 'dispatching',
      delegations: [row({ turn: 3, verification })],
      usage: usage(),
      at_work: [],
    });
    expect(ofWave).toContain(`researcher · turn 3 · ${text}`);
  });

  it('a triad and its phase are on the page of their delegation, and of a run of it alone', () => {
    const phase: TriadPhaseView = {
      type: 'dialectic',
      phase: 'negotiate',
      state: 'running',
      round: 2,
      rounds_max: 3,
      at_work: ['critic'],
      sections: [],
      claims: [],
    };
    const executor = { kind: 'triad', type: 'dialectic', view: phase } as const;
    const ofDelegation = renderDelegationDetails({
      agent_id: 'writer',
      title: 'Prices',
      turn: 4,
      state: 'running',
      waiting_for: '',
      usage: usage(),
      executor,
    });
    expect(ofDelegation).toContain(
      '**Done by:** dialectic triad, written by writer · 4 model calls',
    );
    expect(ofDelegation).toContain('## negotiate · round 2 of 3');
    expect(renderRunDetails({ ...view, executor })).toContain('## negotiate · round 2 of 3');
  });

  it('a wave that no planner decided on has no status', () => {
    const wave = {
      wave: 1,
      io_status: null,
      completed: 1,
      failed: 0,
      skipped: 0,
      criteria_met: 1,
      criteria_open: 0,
      usage: usage(),
    };
    expect(renderRunDetails({ ...view, waves: [wave] })).toContain('- **Wave 1** · 1 completed');
  });
});
