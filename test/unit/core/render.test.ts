import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import type { DelegationView, RunPhase } from '../../../contracts/views.ts';
import { engineLimits } from '../../../core/limits.ts';
import { checkAnswer } from '../../../core/questions/check-answer.ts';
import { answerCommands, quoteWord } from '../../../core/render/answer-commands.ts';
import { describeWait } from '../../../core/render/describe-wait.ts';
import { formatDuration } from '../../../core/render/format-duration.ts';
import {
  codeBlock,
  codeSpan,
  countBytes,
  joinBlocks,
  plainText,
} from '../../../core/render/markdown.ts';
import { renderDelegationDetails } from '../../../core/render/render-delegation-details.ts';
import { renderRunDetails } from '../../../core/render/render-run-details.ts';
import type { RunDetails } from '../../../core/render/render-run-details.ts';
import { renderWaveDetails } from '../../../core/render/render-wave-details.ts';
import { turnSummary } from '../../../core/render/turn-summary.ts';
import { criterion, property, question, usage } from './builders.ts';

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
  paused_reason: null,
  parked_reason: null,
  rejected: [],
};

const choice = question({ expected_answer_format: 'choice', choices: ["it's", 'b'] });

const row = (over: Partial<DelegationView>): DelegationView => ({
  delegation_id: 'd1',
  agent_id: 'researcher',
  title: 'Prices',
  depends_on: [],
  state: 'running',
  reason: '',
  workflow_id: 'my-run/wave-001/d1',
  ...over,
});

/** What a shell makes of a command line: its words. */
function wordsOf(command: string): string[] {
  const script = `for w in ${command}; do printf '%s\\0' "$w"; done`;
  return execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

describe('Markdown', () => {
  it('MD1: a hostile text stays one line of text', () => {
    const text = plainText(spiteful, 200);
    expect(text).not.toContain('\n');
    expect(text).toMatch(/^\\# x/);
    expect(text.replace(/\\./g, '')).not.toMatch(/[`*[\]<>]/);
    expect(plainText('- a', 9)).toBe(String.raw`\- a`);
    expect(plainText('12. a', 9)).toBe(String.raw`12\. a`);
    expect(plainText('market_size _x_', 40)).toBe(String.raw`market_size \_x\_`);
  });

  it('MD1: no text opens anything', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (any) => {
        const text = plainText(any, 60);
        expect(text).not.toMatch(/[\n\r]/);
        expect(text).not.toMatch(/^(?:[#>+=-]|\d+[.)])/);
        expect(text.replace(/\\[^\n]/gu, '')).not.toMatch(/[`*[\]<>]/);
      }),
      property,
    );
  });

  it('MD2: a span and a block end where we end them', () => {
    expect(codeSpan('a', 9)).toBe('`a`');
    expect(codeSpan('a``b', 9)).toBe('```a``b```');
    expect(codeSpan('`a`', 9)).toBe('`` `a` ``');
    expect(codeSpan('a\nb', 9)).toBe('`a b`');
    expect(codeBlock(['a ```` b'])).toBe('`````sh\na ```` b\n`````');
  });

  it('MD3: blocks are whole or left out, within the limit', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 80 })), (blocks) => {
        const text = joinBlocks(blocks, 300);
        expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(300);
        expect(countBytes(text)).toBe(new TextEncoder().encode(text).length);
      }),
      property,
    );
    expect(joinBlocks(['a', '', 'b'], 300)).toBe('a\n\nb');
    expect(joinBlocks(['a', 'b'.repeat(400)], 300)).toMatch(/^a\n\n… more is left out/);
  });
});

describe('commands', () => {
  it('CM1: every word reaches its program exactly', () => {
    const words = fc
      .string({ unit: 'binary', minLength: 1 })
      .filter((w) => !w.includes('\0') && !/\p{Surrogate}/u.test(w));
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 3 }), (all) => {
        expect(wordsOf(all.map(quoteWord).join(' '))).toEqual(all);
      }),
      { ...property, numRuns: 60 },
    );
    const hostile = 'r\'; rm -rf ~; echo `id` $(id) "';
    const [client = '', signal = ''] = answerCommands(hostile, choice);
    expect(wordsOf(client).slice(4)).toEqual(['answer', hostile, 'q1', "it's"]);
    const sent = wordsOf(signal);
    expect(sent[sent.indexOf('--workflow-id') + 1]).toBe(hostile);
    expect(JSON.parse(sent.at(-1) ?? '')).toEqual({ question_id: 'q1', answer: "it's" });
  });

  it('CM1: a negative number is no option', () => {
    const minus = question({ expected_answer_format: 'number', default_answer: '-3' });
    expect(answerCommands('r', minus)[0]).toBe('npm run planwave -- answer r q1 -- -3');
  });

  it('CM2: the answer in the command is one that the question takes', () => {
    expect(answerCommands('my-run', question())).toEqual([
      "npm run planwave -- answer my-run q1 'your answer'",
      `temporal workflow signal --workflow-id my-run --name answer --input '{"question_id":"q1","answer":"your answer"}'`,
    ]);
    const odd = question({ expected_answer_format: 'choice', choices: ['a\u202eb', 'c\nd'] });
    expect(answerCommands('r', odd)[0]).toBe('npm run planwave -- answer r q1 1');
    expect(checkAnswer(odd, '1').ok).toBe(true);
    const json = question({
      expected_answer_format: 'json',
      answer_schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    });
    expect(answerCommands('r', json)[0]).toBe(`npm run planwave -- answer r q1 '{"n":1}'`);
  });
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
        wave: 2,
        summary: long,
        delegations: Array.from({ length: 500 }, (_, i) => ({
          delegation_id: `d${i}`,
          agent_id: 'a',
          title: long,
          depends_on: ['d0'],
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
        wave: 2,
        summary: 'Find prices, then compare.',
        delegations: [
          { delegation_id: 'd1', agent_id: 'researcher', title: 'Prices', depends_on: [] },
          { delegation_id: 'd2', agent_id: 'writer', title: 'Compare', depends_on: ['d1'] },
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
    });
    expect(text).toBe(
      [
        '## Wave 1: dispatching',
        '1 running, 1 pending',
        '- **running** · Prices · `d1` · researcher\n- **pending** · Prices · `d2` · researcher · input "p" from d1 (running)',
        '$0.00 · 0 tokens in, 0 out',
      ].join('\n\n'),
    );
  });

  it('WD2: a wave of any size keeps the limit', () => {
    const text = renderWaveDetails({
      wave: 1,
      phase: 'dispatching',
      delegations: Array.from({ length: 2_000 }, () => row({ title: spiteful })),
      usage: usage(),
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
    };
    expect(renderDelegationDetails(details)).toMatch(/^## Waiting\n\nWhich region\?\n\n## Prices/);
    expect(renderDelegationDetails({ ...details, waiting_for: '', state: 'running' })).toMatch(
      /^## Prices\n\n- \*\*State:\*\* running\n- \*\*Agent:\*\* researcher · turn 3/,
    );
  });
});

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
