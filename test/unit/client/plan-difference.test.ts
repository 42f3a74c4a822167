import * as fc from 'fast-check';
import { describeDifference } from '../../../client/cli/commands/plan-difference.ts';

const describeText = (before: string | null, after: string | null): string[] =>
  describeDifference({ kind: 'changed', path: 'summary', before, after });

const long = 'The importer reads every order of the shop, one after the other. '.repeat(20);

describe('PDL1: nothing that differs is left out', () => {
  it('two lines that changed places', () => {
    expect(describeText('a\nb\nc', 'b\na\nc')).toEqual(['- a', '+ a']);
  });

  it('the last sentence of a long line', () => {
    const [removed, added] = describeText(`${long}It stops.`, `${long}It goes on.`);
    expect(removed).toMatch(/^- ….*It stops\.$/u);
    expect(added).toMatch(/^\+ ….*It goes on\.$/u);
    expect(removed?.length).toBeLessThan(120);
  });

  it('all between the first difference of a long line and its last', () => {
    const [removed = ''] = describeText(`x${long}y${long}`, `z${long}w${long}`);
    expect(removed).toContain(`x${long}y`);
    expect(removed).toMatch(/…$/u);
  });

  it('all of an entry that is added, field by field', () => {
    const task = {
      title: 'Tables',
      instructions: `## Objective\n${long.trim()}`,
      depends_on: ['a'],
    };
    expect(describeText(null, JSON.stringify(task))).toEqual([
      '+ title: Tables',
      '+ instructions: ## Objective',
      `+ ${long.trim()}`,
      '+ depends_on: ["a"]',
    ]);
  });

  it('a text that looks like an entry', () => {
    expect(describeText('{"a":"safe"}', '{"a":"DROP","a":"safe"}')).toEqual([
      '- {"a":"safe"}',
      '+ {"a":"DROP","a":"safe"}',
    ]);
    expect(describeText('{"a": 1}', '{"a":1}')).toHaveLength(2);
    expect(describeText(null, '{}')).toEqual(['+ {}']);
  });

  it('an entry that comes where nothing was', () => {
    expect(describeText('null', '{"risk_id":"r"}')).toEqual(['- null', '+ risk_id: r']);
  });

  it('different texts of any kind', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', ' ', '', long, '{', '\t', '\r'), { maxLength: 8 })
      .map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(describeText(before, after).length > 0).toBe(before !== after);
      }),
    );
  });
});

it.each([
  ['an indentation', '- a\n  - b', '- a\n- b', ['-   - b', '+ - b']],
  ['a space at the end', 'a ', 'a', ['- "a "', '+ a']],
  ['an end of line', 'a\r\nb', 'a\nb', ['- "a\\r"', '+ a']],
  ['a blank line', 'a\n\nb', 'a\nb', ['-']],
])('PDL2: %s is seen', (_what, before, after, lines) => {
  expect(describeText(before, after)).toEqual(lines);
});
