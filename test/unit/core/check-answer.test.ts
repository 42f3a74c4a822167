import * as fc from 'fast-check';
import type { Question } from '../../../contracts/question.ts';
import { checkAnswer, parseDefault } from '../../../core/questions/check-answer.ts';
import { property, question } from './builders.ts';

type Format = Question['expected_answer_format'];

const rule = (expected_answer_format: Format, over: Partial<Question> = {}): Question =>
  question({ expected_answer_format, ...over });

const textOf = (asked: Question, answer: unknown): string | null => {
  const checked = checkAnswer(asked, answer);
  return checked.ok ? checked.text : null;
};

const reasonOf = (asked: Question, answer: unknown): string => {
  const checked = checkAnswer(asked, answer);
  return checked.ok ? 'taken' : checked.reason;
};

const regions = rule('choice', { choices: ['eu-west', 'us-east', 'Beide'] });

const schema = {
  type: 'object',
  required: ['region', 'count'],
  properties: {
    region: { type: 'string', enum: ['eu', 'us'] },
    count: { type: 'integer', minimum: 2 },
  },
  additionalProperties: false,
};

const anyQuestion: fc.Arbitrary<Question> = fc.oneof(
  fc.constantFrom<Format>('text', 'boolean', 'number', 'json').map((format) => rule(format)),
  fc
    .uniqueArray(fc.constantFrom('a', 'A', ' b', 'b', 'C', '1', '2 regions', 'x'), { minLength: 2 })
    .map((choices) => rule('choice', { choices })),
  fc.constant(rule('json', { answer_schema: schema })),
);

const anyAnswer: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  fc.anything(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom<unknown>('yes', ' NO ', 'true', '1', '2', 3, 'A', 'b', '-0', '1e400', '07'),
);

describe('checkAnswer', () => {
  it('AN1: every value gets a verdict', () => {
    fc.assert(
      fc.property(anyQuestion, anyAnswer, (asked, answer) => {
        expect(typeof checkAnswer(asked, answer).ok).toBe('boolean');
      }),
      property,
    );
  });

  it('AN1: a value that is nested without end is refused, not walked', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    expect(reasonOf(rule('json'), deep)).toContain('nested deeper');
    expect(reasonOf(rule('json'), '['.repeat(90_000) + ']'.repeat(90_000))).toContain('nested');
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(reasonOf(rule('json'), circle)).toContain('nested deeper');
  });

  it('AN2: an accepted text is accepted again, unchanged', () => {
    fc.assert(
      fc.property(anyQuestion, anyAnswer, (asked, answer) => {
        const text = textOf(asked, answer);
        expect(text === null ? null : textOf(asked, text)).toBe(text);
      }),
      { ...property, numRuns: 2_000 },
    );
  });

  it.each<[Format, unknown, string]>([
    ['number', '3', '3'],
    ['number', ' -0.50 ', '-0.5'],
    ['number', 3, '3'],
    ['number', '1e3', '1000'],
    ['boolean', 'YES', 'true'],
    ['boolean', ' no', 'false'],
    ['boolean', false, 'false'],
    ['text', 3, '3'],
    ['text', true, 'true'],
    ['json', '{"a": 1}', '{"a":1}'],
    ['json', [1, null], '[1,null]'],
    ['json', '"text"', '"text"'],
  ])('AN3: %s takes %j as "%s"', (format, answer, text) => {
    expect(textOf(rule(format), answer)).toBe(text);
  });

  it.each<[Format, unknown]>([
    ['number', '1,000'],
    ['number', 'three'],
    ['number', '0x10'],
    ['number', '12345678901234567890'],
    ['number', '1e999'],
    ['number', Number.NaN],
    ['number', true],
    ['boolean', 'ja'],
    ['boolean', 'y'],
    ['boolean', 1],
    ['text', { a: 1 }],
    ['text', null],
    ['text', ['a']],
    ['json', 'no json'],
    ['json', '{"a":'],
    ['json', undefined],
    ['text', undefined],
  ])('AN3: %s does not take %j', (format, answer) => {
    expect(textOf(rule(format), answer)).toBeNull();
  });

  it('AN3: a choice is taken by text, by case when unique, by number when none looks like one', () => {
    expect(textOf(regions, 'us-east')).toBe('us-east');
    expect(textOf(regions, ' BEIDE ')).toBe('Beide');
    expect(textOf(regions, 2)).toBe('us-east');
    expect(textOf(regions, '3')).toBe('Beide');
    expect(reasonOf(regions, 4)).toBe('expected one of "eu-west", "us-east", "Beide"');
    expect(textOf(regions, 0)).toBeNull();
    expect(textOf(regions, { a: 1 })).toBeNull();
    const twins = rule('choice', { choices: ['Go', 'GO'] });
    expect(textOf(twins, 'GO')).toBe('GO');
    expect(textOf(twins, 'go')).toBeNull();
    const counts = rule('choice', { choices: ['3 months', '1 month'] });
    expect(textOf(counts, '1')).toBeNull();
    const numbers = rule('choice', { choices: ['2', '1'] });
    expect(textOf(numbers, 1)).toBe('1');
  });

  it('AN4: a refusal has a reason, and its example would be taken', () => {
    fc.assert(
      fc.property(anyQuestion, anyAnswer, (asked, answer) => {
        const checked = checkAnswer(asked, answer);
        const shown = checked.ok ? { reason: 'taken', example: answer } : checked;
        expect(shown.reason).not.toBe('');
        expect(checkAnswer(asked, shown.example).ok).toBe(true);
      }),
      property,
    );
  });

  it('AN4: the example is the default where there is one', () => {
    const asked = rule('number', { default_answer: '7' });
    expect(checkAnswer(asked, 'x')).toMatchObject({ ok: false, example: 7 });
    expect(checkAnswer(regions, 'x')).toMatchObject({ ok: false, example: 'eu-west' });
  });

  it.each([
    ['', 'the answer is empty'],
    [' \r\n ', 'the answer is empty'],
    ['a\u0000b', 'the answer contains a NUL character'],
    ['a\ud800b', 'half of a surrogate pair'],
    ['x'.repeat(3_000_000), 'has 3000000 characters, the limit is 200000'],
  ])('AN5: fault 42: refused at once: %#', (answer, reason) => {
    expect(reasonOf(rule('text'), answer)).toContain(reason);
    expect(reasonOf(rule('json'), answer)).toContain(reason);
    expect(reasonOf(regions, answer)).toContain(reason);
  });

  it.each(['a\r\nb', '😀', '\u202eabc', '  kept  ', 'x'.repeat(200_000)])(
    'AN5: fault 42: taken exactly: %#',
    (answer) => {
      expect(textOf(rule('text'), answer)).toBe(answer);
    },
  );

  it('AN5: the same holds inside JSON', () => {
    expect(reasonOf(rule('json'), { a: ['x\u0000'] })).toContain('NUL');
    expect(reasonOf(rule('json'), { 'k\udc00': 1 })).toContain('surrogate');
    expect(reasonOf(rule('json'), ['x'.repeat(200_000)])).toContain('the limit is 200000');
    expect(reasonOf(rule('json'), { n: Number.POSITIVE_INFINITY })).toContain('JSON does not have');
  });

  it('AN6: JSON has to fit the schema, and the reason says where it does not', () => {
    const asked = rule('json', { answer_schema: schema });
    expect(textOf(asked, { region: 'eu', count: 2 })).toBe('{"region":"eu","count":2}');
    expect(textOf(asked, '{"region":"eu","count":2}')).toBe('{"region":"eu","count":2}');
    expect(reasonOf(asked, { region: 'eu', count: 1 })).toContain('/count');
    expect(reasonOf(asked, { region: 'asia', count: 2 })).toContain('/region');
    expect(reasonOf(asked, { count: 2 })).toContain('region');
    expect(checkAnswer(asked, {})).toMatchObject({ example: { region: 'eu', count: 2 } });
  });

  it('AN6: a string that fits the schema only as it is, is taken so', () => {
    const asked = rule('json', { answer_schema: { type: 'string' } });
    expect(textOf(asked, '3')).toBe('"3"');
    expect(textOf(asked, 'eu-west')).toBe('"eu-west"');
  });

  it('AN6: the schema of the question is left as it was, and may be frozen', () => {
    const frozen = Object.freeze({ type: 'object', properties: Object.freeze({}) });
    expect(textOf(rule('json', { answer_schema: frozen }), {})).toBe('{}');
    expect(Object.getOwnPropertyNames(frozen)).toEqual(['type', 'properties']);
  });

  it('AN6: a schema that is itself broken refuses nothing', () => {
    const broken = rule('json', { answer_schema: { $ref: '#/nowhere' } });
    expect(textOf(broken, { a: 1 })).toBe('{"a":1}');
  });

  it('a default is read as an answer', () => {
    expect(parseDefault(rule('boolean', { default_answer: 'yes' }))).toEqual({
      ok: true,
      text: 'true',
    });
    expect(parseDefault(rule('boolean', { default_answer: 'maybe' }))?.ok).toBe(false);
    expect(parseDefault(rule('text'))).toBeNull();
  });
});
