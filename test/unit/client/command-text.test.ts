import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { commandText, quoteWord } from '../../../core/text/format.ts';

it('leaves harmless words as they are and quotes the others', () => {
  expect(commandText('answer', 'run-1', 'q1', "it's $5")).toBe(
    `npm run planwave -- answer run-1 q1 'it'\\''s $5'`,
  );
});

it('quotes so that a shell gives back the same words', () => {
  fc.assert(
    fc.property(fc.string(), (word) => {
      fc.pre(!word.includes('\0'));
      const text = execFileSync('sh', ['-c', `printf %s ${quoteWord(word)}`], {
        encoding: 'utf8',
      });
      expect(text).toBe(word);
    }),
    { numRuns: 25 },
  );
});
