import * as fc from 'fast-check';
import { checkReadPath, isPrivateName } from '../../../core/effects/check-workspace-path.ts';
import { editText } from '../../../core/effects/edit-text.ts';

const edit = (text: string, old_string: string, new_string: string, replace_all = false) =>
  editText(text, { old_string, new_string, replace_all });

describe('editing a text', () => {
  it('ED1: the old text occurs exactly once, or the refusal says how often', () => {
    expect(edit('a b a', 'b', 'c')).toEqual({ ok: true, text: 'a c a', count: 1 });
    expect(edit('a b a', 'a', 'c')).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/has 2 matches.*Try: /),
    });
    expect(edit('a b a', 'x', 'c')).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/0 matches.*Try: /),
    });
    expect(edit('a b a', 'a', 'c', true)).toEqual({ ok: true, text: 'c b c', count: 2 });
    expect(edit('a', '', 'c').ok).toBe(false);
    expect(edit('a', 'a', 'a').ok).toBe(false);
  });

  it('ED2: everything else stays, and a new text has no special characters', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string({ minLength: 1 }), (before, after, word) => {
        const mark = `<${word}>`;
        const text = `\uFEFF${before}${mark}${after}`;
        const done = edit(text, mark, "$&$1$'");
        if (!done.ok) return;
        expect(done.text).toBe(`\uFEFF${before}$&$1$'${after}`);
      }),
    );
  });

  it('ED3: a file with CRLF keeps it, and one with both is taken as it is', () => {
    expect(edit('a\r\nb\r\nc', 'a\nb', 'x\ny')).toMatchObject({ text: 'x\r\ny\r\nc' });
    expect(edit('a\r\nb\nc', 'b\nc', 'x\ny')).toMatchObject({ text: 'a\r\nx\ny' });
  });

  it('ED4: a mark never takes the place of a secret, and a text that has the mark is edited', () => {
    const hidden = { ok: false, reason: expect.stringMatching(/\[redacted:aws\].*secret.*Try: /) };
    expect(edit('key = AKIA', 'key = [redacted:aws]', 'key = x')).toMatchObject(hidden);
    expect(edit('key = AKIA', 'AKIA', '[redacted:aws]')).toMatchObject(hidden);
    expect(edit('key = AKIA', 'key', 'id')).toMatchObject({ text: 'id = AKIA' });
    const page = 'A mark such as [redacted:aws].';
    expect(edit(page, 'such as', 'like')).toMatchObject({ text: 'A mark like [redacted:aws].' });
  });
});

describe('paths that are read', () => {
  it('WP5: hidden and deep ones may be read', () => {
    for (const path of ['.github/workflows/ci.yml', 'a/'.repeat(40).slice(0, -1), './a', 'src/']) {
      expect(checkReadPath(path)).toMatchObject({ ok: true });
    }
    expect(checkReadPath('')).toEqual({ ok: true, parts: [] });
    expect(checkReadPath('.')).toEqual({ ok: true, parts: [] });
  });

  it('WP5: no way out, and nothing private, however it is spelled', () => {
    const bad = [
      '..',
      'a/../b',
      '/etc/passwd',
      'a//b',
      'a\nb',
      'a\0b',
      'C:\\x',
      'a/./b',
      'x\u202ey',
    ];
    const secret = [
      '.git/config',
      '.GIT/config',
      'sub/.git',
      'GIT~1/config',
      '.git./x',
      '.env',
      '.Env.local',
    ];
    for (const path of [...bad, ...secret, '.ｇit/x', 'a/'.repeat(70)]) {
      expect([path, checkReadPath(path)]).toMatchObject([
        path,
        { ok: false, reason: expect.stringMatching(/Try: /) },
      ]);
    }
    expect(isPrivateName('.gitignore')).toBe(false);
  });
});
