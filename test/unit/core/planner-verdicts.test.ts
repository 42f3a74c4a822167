import type { PlannerVerdict } from '../../../contracts/question.ts';
import {
  answerByVerdict,
  applyVerdict,
  verdictOn,
} from '../../../core/questions/answer-unasked.ts';
import { openInbox, stepInbox } from '../../../core/questions/step-inbox.ts';
import { asked, escalation, question, usualRules } from './builders.ts';
import { isPerson } from '../../../core/questions/answer-kinds.ts';

const ask = { use_defaults: false, autonomy: 'ask' } as const;

const verdict = (over: Partial<PlannerVerdict> = {}): PlannerVerdict => ({
  verdict: 'answered',
  answer: 'eu',
  source_refs: ['f2', 'goal'],
  reason: 'The goal says so.',
  ...over,
});

const passedOn = verdict({ verdict: 'needs_user_input', answer: null, reason: 'It costs money.' });

describe('what a verdict does', () => {
  it('PV1: what is passed on to the user is critical and says why', () => {
    expect(applyVerdict(asked(), passedOn)).toEqual(
      asked({
        priority: 'critical',
        why_it_matters: 'Prices differ. The planner: It costs money.',
      }),
    );
    expect(applyVerdict(asked(), verdict())).toEqual(asked());
    expect(answerByVerdict(question(), passedOn)).toBeNull();
  });

  it('PV2: an answer counts only when the question takes it', () => {
    expect(answerByVerdict(question(), verdict())).toEqual({
      text: 'eu',
      answered_by: 'planner',
      source_refs: ['f2', 'goal'],
    });
    const assumed = verdict({ verdict: 'assumed', source_refs: [] });
    expect(answerByVerdict(question(), assumed)).toMatchObject({
      answered_by: 'planner-assumption',
    });
    expect(answerByVerdict(question({ expected_answer_format: 'number' }), verdict())).toBeNull();
    expect(answerByVerdict(question(), verdict({ answer: null }))).toBeNull();
  });

  it('PV4: a decision of the architect is no assumption and no answer of a person; without one the user is asked', () => {
    const decided = verdict({ verdict: 'architect', source_refs: ['decision_w1n1_1727539200'] });
    const taken = answerByVerdict(question({ priority: 'critical' }), decided);
    expect(taken).toEqual({
      text: 'eu',
      answered_by: 'solution-architect',
      source_refs: ['decision_w1n1_1727539200'],
    });
    expect(isPerson(taken?.answered_by ?? '')).toBe(false);
    expect(answerByVerdict(question(), { ...decided, answer: null })).toBeNull();
  });

  it("PV3: a critical question takes the planner's answer, but no assumption; the engine's own take neither", () => {
    const from = escalation('e1', [asked({ priority: 'critical' }), asked()]);
    const verdicts = [verdict(), verdict()];
    expect(verdictOn({ ...from, verdicts }, 0)).toEqual(verdict());
    const assumed = verdict({ verdict: 'assumed' });
    expect(verdictOn({ ...from, verdicts: [assumed, assumed] }, 0)).toBeNull();
    expect(verdictOn({ ...from, verdicts: [assumed, assumed] }, 1)).toEqual(assumed);
    expect(verdictOn({ ...from, verdicts, kind: 'planner_stuck' }, 1)).toBeNull();
    expect(verdictOn(from, 1)).toBeNull();
  });

  it('IN13: what awaits a result in a cycle is put to no one, and is a loop with its path', () => {
    const from = escalation('e1', [asked(), asked({ text: 'Who pays?' })]);
    const circular = verdict({ verdict: 'awaits', answer: null, source_refs: ['a', 'b', 'a'] });
    const asking = stepInbox(openInbox(null), {
      type: 'ask',
      escalation: { ...from, delegation_id: 'a', verdicts: [circular, verdict()] },
      now: 5,
      rules: usualRules,
      ...ask,
    });
    expect(asking.effects).toMatchObject([
      {
        type: 'looped',
        loop: { delegation_id: 'a', question: asked().text, cycle: ['a', 'b', 'a'] },
      },
      { type: 'opened', question: { text: 'Who pays?' } },
      { type: 'answered' },
      {
        type: 'deliver',
        answers: [
          { loop: true, answered_by: 'planwave', answer_text: expect.stringContaining('a→b→a') },
          { loop: false, answer_text: 'eu' },
        ],
      },
    ]);
    expect(asking.state).toMatchObject({ open: [], pending: [] });
    expect(answerByVerdict(question(), circular)).toBeNull();
  });

  it('PV2: the inbox delivers what the planner said with what the user says, in order', () => {
    const from = escalation('e1', [asked(), asked({ text: 'Who pays?' }), asked({ text: 'Why?' })]);
    const assumed = verdict({ verdict: 'assumed', answer: 'cheap' });
    const asking = stepInbox(openInbox(null), {
      type: 'ask',
      escalation: { ...from, verdicts: [verdict(), passedOn, assumed] },
      now: 5,
      rules: usualRules,
      ...ask,
    });
    expect(asking.effects.map(({ type }) => type)).toEqual([
      ...Array<string>(3).fill('opened'),
      ...Array<string>(2).fill('answered'),
    ]);
    expect(asking.state.open).toMatchObject([{ question_id: 'q2', priority: 'critical' }]);
    const { effects } = stepInbox(asking.state, {
      type: 'answer',
      payload: { answer: 'The client' },
      now: 6,
      default_answered_by: 'user',
    });
    expect(effects.at(-1)).toMatchObject({
      type: 'deliver',
      answers: [
        { question_id: 'q1', answer_text: 'eu', answered_by: 'planner' },
        { question_id: 'q2', answer_text: 'The client', answered_by: 'user' },
        { question_id: 'q3', answer_text: 'cheap', answered_by: 'planner-assumption' },
      ],
    });
  });
});
