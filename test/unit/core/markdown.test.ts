import * as fc from 'fast-check';
import {
  codeBlock,
  codeSpan,
  countBytes,
  joinBlocks,
  plainText,
} from '../../../core/text/markdown.ts';
import { property } from './builders.ts';

const spiteful = '# x\n\n```\n- [a](http://b) <img src=x> **b** `c` _d_ \u202e 1. *';

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
