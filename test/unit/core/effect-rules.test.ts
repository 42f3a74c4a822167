import * as fc from 'fast-check';
import type { Approval } from '../../../contracts/effect.ts';
import type { RiskLevel } from '../../../contracts/agent-definition.ts';
import type { DeliveredAnswer } from '../../../contracts/messages.ts';
import {
  checkWorkspacePath,
  foldFileName,
  workspacePathCharsMax,
} from '../../../core/effects/check-workspace-path.ts';
import {
  approvalQuestion,
  checkApproval,
  describeDenial,
  needsApproval,
  readApproval,
  readResolution,
  unverifiedQuestion,
} from '../../../core/effects/decide-approval.ts';
import type { ApprovalFacts } from '../../../core/effects/decide-approval.ts';
import { listCommands, listWritten } from '../../../core/effects/step-effect.ts';
import { engineLimits } from '../../../core/limits.ts';
import { checkClaimedEffects } from '../../../core/output/check-evidence.ts';
import type { KnownEffect } from '../../../core/output/check-evidence.ts';
import { output } from './builders.ts';
import { checkAskedQuestions } from '../../../core/questions/check-asked-questions.ts';

const shown = {
  effect_id: 'build/effect-1',
  tool: 'write_file',
  arguments_ref: 'a'.repeat(64),
  before: '',
} as const;

const answerOf = (over: Partial<DeliveredAnswer> = {}): DeliveredAnswer => ({
  question_id: 'q1',
  text: 'May it?',
  answer: 'approve',
  answer_ref: null,
  answered_by: 'user',
  loop: false,
  ...over,
});

const facts = (
  mark: ApprovalFacts['mark'],
  risk: RiskLevel,
  losesWork: boolean,
): ApprovalFacts => ({
  mark,
  risk,
  losesWork,
  isGuarded: false,
});

const now = 1_760_000_000;
const approval: Approval = { ...shown, question_id: 'q1', asked_at: now };

describe('approvals', () => {
  it('AP1: an agent of high risk is asked for what goes by risk, and everybody for what is marked always', () => {
    const risks = ['low', 'medium', 'high'] as const;
    expect(risks.map((risk) => needsApproval(facts('never', risk, false)))).toEqual([
      false,
      false,
      false,
    ]);
    expect(risks.map((risk) => needsApproval(facts('by_risk', risk, false)))).toEqual([
      false,
      false,
      true,
    ]);
    expect(risks.map((risk) => needsApproval(facts('always', risk, false)))).toEqual([
      true,
      true,
      true,
    ]);
    // The Rule of Two asks for every call.
    for (const risk of risks) {
      expect(needsApproval({ ...facts('never', risk, false), isGuarded: true })).toBe(true);
    }
    // Whoever replaces the work of others asks first.
    expect(risks.map((risk) => needsApproval(facts('never', risk, true)))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('AP2: only the answer "approve" of a person approves', () => {
    expect(readApproval(shown, answerOf(), now)).toEqual(approval);
    expect(readApproval(shown, answerOf({ answered_by: 'Ana' }), now)).toEqual(approval);
    for (const answer of ['deny', 'Approve', 'yes', 'approve ', '', null]) {
      expect(readApproval(shown, answerOf({ answer }), now)).toBeNull();
    }
    for (const answered_by of ['default', 'planner', 'planwave']) {
      expect(readApproval(shown, answerOf({ answered_by }), now)).toBeNull();
    }
    expect(readApproval(shown, answerOf({ loop: true }), now)).toBeNull();
    expect(readApproval(shown, undefined, now)).toBeNull();
  });

  it('AP3: it holds for the one call that was shown', () => {
    expect(checkApproval(approval, shown, now)).toBe('holds');
    expect(checkApproval(null, shown, now)).toBe('missing');
    for (const over of [
      { effect_id: 'build/effect-2' },
      { tool: 'send_mail' },
      { arguments_ref: 'b'.repeat(64) },
      { before: 'c'.repeat(64) },
    ]) {
      expect(checkApproval(approval, { ...shown, ...over }, now)).toBe('missing');
    }
  });

  it('AP4: it expires, and a clock that went back does not make it longer', () => {
    const max = engineLimits.approvalSecondsMax;
    expect(checkApproval(approval, shown, now + max)).toBe('holds');
    expect(checkApproval(approval, shown, now + max + 1)).toBe('expired');
    // Two machines may differ a little.
    expect(checkApproval(approval, shown, now - 60)).toBe('holds');
    expect(checkApproval(approval, shown, now - 3_600)).toBe('expired');
  });
});

describe('questions about effects', () => {
  const caller = { agent_id: 'engineer', delegation_id: 'build' };

  it('EQ1: the approval shows who, what and the hash of the whole arguments', () => {
    const hidden = '{"path":"a.md","content":"x\u202e\u200b y"}';
    const question = approvalQuestion(caller, {
      ...shown,
      run_id: 'site',
      target: 'a.md',
      arguments_shown: hidden,
      loss_shown: ['- old\u202e', '+ new'],
    });
    expect(question.text).toContain('\n- old\n+ new\n');
    for (const part of [
      'engineer',
      'build',
      'write_file',
      'a.md',
      'questions site --full',
      shown.arguments_ref,
    ]) {
      expect(question.text).toContain(part);
    }
    expect(question.text).toContain('{"path":"a.md","content":"x y"}');
    expect(question).toMatchObject({ choices: ['approve', 'deny'], default_answer: 'deny' });
    expect(checkAskedQuestions([question], 'q')).toEqual([]);
  });

  it('EQ1: whatever the model writes, the question keeps its lines and its hash', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (target, args) => {
        const long = args.repeat(200);
        const loss_shown = Array.from({ length: 30 }, () => long);
        const { text } = approvalQuestion(caller, {
          ...shown,
          run_id: 'site',
          target,
          arguments_shown: long,
          loss_shown,
        });
        expect(text.split('\n').length).toBeLessThanOrEqual(5 + 10);
        expect(text).toContain(shown.arguments_ref);
        expect(text.length).toBeLessThanOrEqual(engineLimits.questionCharsMax);
      }),
    );
  });

  it('EQ2: an effect that nobody could verify has no default, and no answer means skip', () => {
    const question = unverifiedQuestion(caller, { ...shown, target: 'a.md', found: 'other bytes' });
    expect(question).toMatchObject({
      choices: ['verified', 'retry', 'skip'],
      default_answer: null,
    });
    expect(checkAskedQuestions([question], 'q')).toEqual([]);
    expect(readResolution(answerOf({ answer: 'retry' }))).toBe('retry');
    expect(readResolution(answerOf({ answer: 'retry', answered_by: 'default' }))).toBe('skip');
    expect(readResolution(answerOf({ answer: 'retry', loop: true }))).toBe('skip');
    expect(readResolution(answerOf({ answer: 'again' }))).toBe('skip');
    expect(readResolution(undefined)).toBe('skip');
  });

  it('a denial tells the model who denied', () => {
    expect(describeDenial('write_file', answerOf({ answer: 'deny' }))).toContain(
      'The user did not',
    );
    const full = answerOf({
      answer: 'Too many questions wait.',
      answered_by: 'planwave',
      loop: true,
    });
    expect(describeDenial('write_file', full)).toContain('Nobody approved it (Too many questions');
  });
});

const effect = (n: number, target: string, state: KnownEffect['state']): KnownEffect => ({
  effect_id: `build/effect-${n}`,
  target,
  state,
});
const faults = (claims: readonly string[], ...effects: readonly KnownEffect[]): string[] =>
  checkClaimedEffects(output({ effects_claimed: [...claims] }), effects).map(({ path }) => path);

describe('claims', () => {
  it('EC1: a claim holds when the newest effect that may have taken place is confirmed', () => {
    expect(faults(['a.md'], effect(1, 'a.md', 'confirmed'))).toEqual([]);
    expect(faults([], effect(1, 'a.md', 'confirmed'))).toEqual([]);
    expect(faults(['a.md'])).toEqual(['effects_claimed[0]']);
    expect(faults(['./a.md'], effect(1, 'a.md', 'confirmed'))).toEqual(['effects_claimed[0]']);
    for (const state of ['intended', 'unverified', 'skipped', 'failed', 'denied'] as const) {
      expect(faults(['a.md'], effect(1, 'a.md', state))).toEqual(['effects_claimed[0]']);
    }
    // What certainly did not happen takes nothing back; what may have happened does.
    const first = effect(1, 'a.md', 'confirmed');
    expect(faults(['a.md'], first, effect(2, 'a.md', 'denied'))).toEqual([]);
    expect(faults(['a.md'], first, effect(2, 'a.md', 'failed'))).toEqual([]);
    expect(faults(['a.md'], first, effect(2, 'a.md', 'skipped'))).toEqual(['effects_claimed[0]']);
  });

  it('EC2: every claim is judged, and the fault says what could be claimed', () => {
    const all = checkClaimedEffects(output({ effects_claimed: ['b.md', 'a.md', 'c.md'] }), [
      effect(1, 'a.md', 'confirmed'),
    ]);
    expect(all.map(({ path }) => path)).toEqual(['effects_claimed[0]', 'effects_claimed[2]']);
    expect(all[0]?.reason).toMatch(/^unproven: "b\.md" .*Confirmed are: "a\.md"/);
    expect(all[0]?.hint).toMatch(/^Try: /);
  });
});

describe('finding W1: evidence', () => {
  it('EC3: a file that evidence names was written by this delegation', () => {
    const criteria_met = ['a.md', 'b.md'].map((value, i) => ({
      criterion_id: `c${i}`,
      evidence: 'The file holds the table.',
      where: { kind: 'file' as const, value },
    }));
    const claims = output({ coverage: { criteria_met, criteria_unmet: [] } });
    const all = checkClaimedEffects(claims, [effect(1, 'a.md', 'confirmed')]);
    expect(all.map(({ path }) => path)).toEqual(['coverage.criteria_met[1].where']);
    expect(all[0]?.reason).toContain('Confirmed are: "a.md"');
  });
});

const wrote = (n: number, target: string, sha256: string): KnownEffect => ({
  ...effect(n, target, 'confirmed'),
  tool: 'write_file',
  arguments_ref: `arguments-${n}`,
  receipt: { target, sha256, bytes: 1 },
});

describe('finding W3: files that were written', () => {
  it('WF1: each path once, as the newest confirmed effect left it', () => {
    const unsure = { ...wrote(4, 'c.md', 'x'), state: 'unverified' as const };
    const vouched = { ...wrote(5, 'd.md', 'x'), receipt: null };
    const effects = [wrote(1, 'a.md', '1'), wrote(2, 'b.md', '2'), wrote(3, 'a.md', '3')];
    expect(listWritten([...effects, unsure, vouched])).toEqual([
      { path: 'b.md', sha256: '2', bytes: 1, tool: 'write_file', arguments_ref: 'arguments-2' },
      { path: 'a.md', sha256: '3', bytes: 1, tool: 'write_file', arguments_ref: 'arguments-3' },
    ]);
  });

  it('WF2: no more than are shown, the newest', () => {
    const many = Array.from({ length: 30 }, (_, n) => wrote(n, `${n}.md`, 'x'));
    const files = listWritten(many);
    expect(files).toHaveLength(engineLimits.writtenFilesMax);
    expect(files.at(-1)?.path).toBe('29.md');
  });
});

const ran = (n: number, target: string, exit_code: number | null): KnownEffect => {
  const { receipt: _file, ...made } = wrote(n, target, `result-${n}`);
  const command = { exit_code, confined: true, output_ref: null };
  return { ...made, receipt: { target, sha256: `result-${n}`, bytes: 1, command } };
};

describe('commands that an author ran', () => {
  it('CW1 and CW2: confirmed ones with their exit codes, and whether a file was changed after them', () => {
    const unsure = { ...ran(4, 'npm start', 0), state: 'unverified' as const };
    const effects = [ran(1, 'npm test', 1), wrote(2, 'a.md', '2'), ran(3, 'npm test', 0), unsure];
    expect(listCommands(effects)).toEqual([
      { command: 'npm test', exit_code: 1, result_ref: 'result-1', files_changed_after: true },
      { command: 'npm test', exit_code: 0, result_ref: 'result-3', files_changed_after: false },
    ]);
  });

  it('CW3: no more than a verifier reads, the newest', () => {
    const many = Array.from({ length: 30 }, (_, n) => ran(n, `npm run ${n}`, 0));
    expect(listCommands(many).map(({ command }) => command)).toEqual(
      Array.from({ length: 10 }, (_, n) => `npm run ${n + 20}`),
    );
  });
});

describe('paths of a workspace', () => {
  const good = [
    'a.md',
    'reports/2026/summary.md',
    'Über uns.txt',
    'a-b_c (1).csv',
    'x'.repeat(200),
  ];
  const outside = ['..', '../a', 'a/../b', '/etc/passwd', './a', 'a/./b', 'a//b', '', 'a/', '/'];
  const foreign = ['a\\b', 'C:', 'c:/a', 'a:stream', 'nul', 'a/CON.txt', 'com1', 'a*', 'a|b', '~/'];
  const hidden = ['.env', 'a/.git/config', '..a', 'a.', 'a ', ' a', 'a/b. /c'];
  const unseen = [
    'a\0b',
    'a\nb',
    'a\u202eb',
    'a\u200bb',
    '\ufeffa',
    'a\ud800',
    'e\u0301.md',
    '\u00a0a',
  ];

  it.each([...good])('takes %j', (path) => {
    expect(checkWorkspacePath(path)).toEqual({ ok: true, parts: path.split('/') });
  });

  it.each([...outside, ...foreign, ...hidden, ...unseen])(
    'WP1, WP2 and WP4: refuses %j',
    (path) => {
      const checked = checkWorkspacePath(path);
      expect(checked.ok).toBe(false);
      expect(checked.ok ? '' : checked.reason).toMatch(/Try: /);
    },
  );

  it('WP1: a path is short, and not deep', () => {
    expect(checkWorkspacePath('x'.repeat(workspacePathCharsMax + 1)).ok).toBe(false);
    expect(checkWorkspacePath('ü'.repeat(101)).ok).toBe(false);
    expect(checkWorkspacePath(Array.from({ length: 11 }, () => 'a').join('/')).ok).toBe(false);
  });

  it('WP1: whatever the text, an accepted path stays below its root', () => {
    const part = fc.constantFrom('.', '..', 'a', ' ', '~', '', '\\', ':', 'é', '\u2024', '．．');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.constantFrom('/', '', '//'), (parts, by) => {
        const checked = checkWorkspacePath(parts.join(by));
        if (!checked.ok) return;
        const url = new URL(`file:///top/w/${checked.parts.map(encodeURIComponent).join('/')}`);
        expect(url.pathname.startsWith('/top/w/')).toBe(true);
        expect(url.pathname.split('/')).toHaveLength(3 + checked.parts.length);
      }),
    );
  });

  it('WP3: names that some system takes for one have one fold', () => {
    const twins = [
      ['Report.md', 'report.MD'],
      ['é.md', 'E\u0301.md'],
      ['straße', 'STRASSE'],
      ['ﬁle', 'file'],
      ['K', '\u212a'],
    ] as const;
    for (const [a, b] of twins) expect(foldFileName(a)).toBe(foldFileName(b));
    expect(foldFileName('a.md')).not.toBe(foldFileName('b.md'));
  });
});
