import { checkAgentOutput, checkFailed } from '../../../core/output/check-agent-output.ts';
import { asked, output } from './builders.ts';

const paths = (over: Parameters<typeof output>[0], ids = ['c1']) =>
  checkAgentOutput(output(over), ids).map((fault) => fault.path);

const coverage = (met: readonly [string, string][], unmet: readonly [string, string][] = []) => ({
  coverage: {
    criteria_met: met.map(([criterion_id, evidence]) => ({
      criterion_id,
      evidence,
      where: { kind: 'heading' as const, value: 'Result' },
    })),
    criteria_unmet: unmet.map(([criterion_id, reason]) => ({ criterion_id, reason })),
  },
});

const choice = (choices: string[]) =>
  paths({ optional_questions: [asked({ expected_answer_format: 'choice', choices })] });

const withDefault = (over: Parameters<typeof asked>[0]) =>
  checkAgentOutput(output({ optional_questions: [asked(over)] }), ['c1']);

const good = 'Section 2 lists all prices.';

describe('checkAgentOutput', () => {
  it('a good output has no faults', () => {
    expect(checkAgentOutput(output(), ['c1'])).toEqual([]);
    const partly = output({ status: 'failed', ...coverage([], [['c1', 'No data.']]) });
    expect(checkAgentOutput(partly, ['c1'])).toEqual([]);
  });

  it('O1: blocked needs a blocking question, completed allows none', () => {
    expect(paths({ status: 'blocked' })).toEqual(['blocking_questions']);
    expect(paths({ status: 'blocked', blocking_questions: [asked()] })).toEqual([]);
    expect(paths({ blocking_questions: [asked()] })).toEqual(['blocking_questions']);
    expect(paths({ optional_questions: [asked()] })).toEqual([]);
  });

  it('O1: failed allows no blocking question, which no one would answer', () => {
    const asking = output({ status: 'failed', blocking_questions: [asked()] });
    expect(checkFailed(asking)).toMatchObject([
      {
        path: 'blocking_questions',
        reason: 'status is "failed" but there are 1 blocking questions',
        hint: expect.stringMatching(/^Try: status "blocked"/),
      },
    ]);
    expect(checkFailed({ ...asking, blocking_questions: [] })).toEqual([]);
    expect(checkFailed({ ...asking, status: 'blocked' })).toEqual([]);
  });

  it('O2: every criterion is in exactly one list, and no other id is', () => {
    const both = coverage([['c1', good]], [['c1', 'No.']]);
    expect(paths(both)).toEqual(['coverage.criteria_unmet[0].criterion_id']);
    expect(paths({}, ['c1', 'c2'])).toEqual(['coverage']);
    expect(checkAgentOutput(output(), ['c1', 'c2'])[0]?.reason).toContain('"c2"');
    const [unknown] = checkAgentOutput(
      output(
        coverage([
          ['c1', good],
          ['cx', good],
        ]),
      ),
      ['c1'],
    );
    expect(unknown?.path).toBe('coverage.criteria_met[1].criterion_id');
    expect(unknown?.hint).toBe('Try: one of "c1"');
  });

  it.each(['', '   ', 'c1', 'done', 'see text'])('O3: "%s" is no evidence', (evidence) => {
    expect(paths(coverage([['c1', evidence]]))).toEqual(['coverage.criteria_met[0].evidence']);
  });

  it('O3: a long id is no evidence for itself', () => {
    const id = 'prices-are-compared';
    const [fault] = checkAgentOutput(output(coverage([[id, 'Prices are compared.']])), [id]);
    expect(fault?.reason).toContain('repeats');
  });

  it('O4: unmet says why, and failed names what is unmet', () => {
    expect(paths(coverage([], [['c1', ' ']]))).toEqual(['coverage.criteria_unmet[0].reason']);
    expect(paths({ status: 'failed' })).toEqual(['coverage.criteria_unmet']);
  });

  it('O5: AQ1: a choice offers at least two different answers', () => {
    expect(choice([])).toEqual(['optional_questions[0].choices']);
    expect(choice(['a', 'a'])).toEqual(['optional_questions[0].choices']);
    expect(choice(['a', ' '])).toEqual(['optional_questions[0].choices']);
    expect(choice(['a', 'b'])).toEqual([]);
  });

  it('AQ1: a choice offers at least two answers, and a question asks something', () => {
    expect(paths({ optional_questions: [asked({ text: ' \n' })] })).toEqual([
      'optional_questions[0].text',
    ]);
  });

  it('AQ2: a default is an answer that the question takes', () => {
    const region = {
      expected_answer_format: 'choice' as const,
      choices: ['eu-west', 'us-east'],
      default_answer: 'asia',
    };
    const [fault] = withDefault(region);
    expect(fault?.path).toBe('optional_questions[0].default_answer');
    expect(fault?.hint).toBe('Try: "eu-west", or null when there is no default');
    expect(withDefault({ ...region, default_answer: 'us-east' })).toEqual([]);
    expect(withDefault({ expected_answer_format: 'number', default_answer: 'three' })).toHaveLength(
      1,
    );
    expect(withDefault({ expected_answer_format: 'boolean', default_answer: 'yes' })).toEqual([]);
    expect(withDefault({ expected_answer_format: 'json', default_answer: '{' })).toHaveLength(1);
    expect(withDefault({ default_answer: '' })).toHaveLength(1);
  });

  it('AQ3: a fact_key says something', () => {
    const keyed = ['region', '\u200b '].map((fact_key) => asked({ fact_key }));
    expect(paths({ optional_questions: keyed })).toEqual(['optional_questions[1].fact_key']);
  });

  it('O6: all faults at once, each with a hint', () => {
    const faults = checkAgentOutput(
      output({
        blocking_questions: [asked({ text: '' })],
        ...coverage(
          [
            ['cx', ''],
            ['c1', 'c1'],
          ],
          [['c1', '']],
        ),
      }),
      ['c1', 'c2'],
    );
    expect(faults).toHaveLength(8);
    for (const fault of faults) {
      expect(fault.hint).toMatch(/^Try: /);
      expect(fault.reason).not.toBe('');
    }
  });

  it('O7: no key of its facts has two values', () => {
    const facts = [
      { key: 'Price', value: '10' },
      { key: 'price', value: '12' },
    ];
    expect(checkAgentOutput(output({ facts }), ['c1']).map(({ path }) => path)).toEqual([
      'facts[1].key',
    ]);
    expect(checkAgentOutput(output({ facts: facts.slice(1) }), ['c1'])).toEqual([]);
  });
});
