import { checkAnswer } from '../../../core/questions/check-answer.ts';
import { changesQuestion } from '../../../core/workspace/run-changes.ts';
import type { ProposedChanges } from '../../../contracts/effect.ts';

const proposed = (over: Partial<ProposedChanges> = {}): ProposedChanges => ({
  dir: '/srv/project',
  files_total: 2,
  lines_added: 10,
  lines_removed: 3,
  files: [
    { change: 'changed', path: 'src/a.js' },
    { change: 'added', path: 'src/b.js' },
  ],
  delegations: [],
  patch_ref: 'a'.repeat(64),
  patch_shown: '-old\n+new\n',
  can_commit: true,
  obstacle: '',
  ...over,
});

it('CQ1: the default leaves the folder as it is', () => {
  expect(changesQuestion(proposed()).default_answer).toBe('keep');
});

it('CQ2: a commit is offered only where nothing else would be in it', () => {
  expect(changesQuestion(proposed()).choices).toEqual(['apply', 'commit', 'keep']);
  const without = changesQuestion(proposed({ can_commit: false }));
  expect(without.choices).toEqual(['apply', 'keep']);
  expect(checkAnswer(without, 'commit').ok).toBe(false);
});

it('CQ3: files come first, then the patch, and a huge change fits', () => {
  expect(changesQuestion(proposed()).text).toMatch(
    /2 files \(\+10 −3 lines\): changed src\/a\.js, added src\/b\.js.*\n-old\n\+new/s,
  );
  const files = Array.from({ length: 50 }, (_, i) => ({
    change: 'added' as const,
    path: `${'deep/'.repeat(40)}${i}`,
  }));
  const dir = `/${'d'.repeat(900)}`;
  const { text } = changesQuestion(proposed({ files, dir, patch_shown: '+'.repeat(2_000) }));
  expect(text.length).toBeLessThan(2_000);
});
