import * as fc from 'fast-check';
import type { BudgetGrant, BudgetRequest } from '../../../contracts/budget.ts';
import type { RecordedEffect } from '../../../contracts/effect.ts';
import type {
  AmendMessage,
  BudgetEscalation,
  ControlMessage,
  DeliveredAnswer,
  Delivery,
  EffectEscalation,
  Escalation,
  NewsDelivery,
  ParkedEscalation,
  PlannedDelegation,
  QuestionsEscalation,
  SessionEscalation,
  WaveProgress,
  WithdrawnEscalation,
} from '../../../contracts/messages.ts';
import type { AskedQuestion, PlannerVerdict } from '../../../contracts/question.ts';
import { checkAmend, checkControl } from '../../../core/run/check-control.ts';
import {
  checkBudgetGrant,
  checkDelivery,
  checkNews,
  checkProgress,
} from '../../../core/run/read-messages.ts';
import { checkEscalation, readEffect } from '../../../core/run/read-escalations.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { property, ref } from './builders.ts';
import type { PlannedExecutor } from '../../../contracts/delegation.ts';

const progress = {
  wave: 1,
  plan_ref: ref,
  summary: 'One task.',
  delegations: [
    {
      delegation_id: 'a',
      agent_id: 'writer',
      title: 'A',
      depends_on: ['b'],
      executor: { kind: 'agent' },
    },
  ],
  criterion_ids: ['a-c1'],
  usage: noUsage,
};

const delivery = {
  escalation_id: 'a#1',
  answers: [
    {
      question_id: 'q1',
      text: 'Which region?',
      answer: 'eu-west',
      answer_ref: null,
      answered_by: 'user',
      loop: false,
    },
  ],
};

it('WM1: no payload throws', () => {
  fc.assert(
    fc.property(fc.anything(), (payload) => {
      expect(checkProgress(payload)).toBeNull();
      expect(checkDelivery(payload)).toBeNull();
    }),
    property,
  );
});

it('WM2: what a workflow sends comes back with the fields we know', () => {
  expect(checkProgress({ ...progress, extra: 1 })).toEqual(progress);
  expect(checkDelivery({ ...delivery, extra: 1 })).toEqual(delivery);
});

it.each<PlannedExecutor>([
  { kind: 'agent' },
  { kind: 'triad', type: 'hierarchical' },
  { kind: 'triad', type: 'dialectic' },
  { kind: 'triad', type: 'consensus' },
  { kind: 'team', team_id: null },
  { kind: 'team', team_id: 'editors' },
])('WM2: an executor %j comes back', (executor) => {
  const delegations = [{ ...progress.delegations[0], executor }];
  const sent = checkProgress({
    ...progress,
    delegations: [{ ...delegations[0], executor: { ...executor, extra: 1 } }],
  });
  expect(sent?.delegations).toEqual(delegations);
});

it.each([
  undefined,
  'agent',
  {},
  { kind: 'quartet' },
  { kind: 'constructor' },
  { kind: 'triad', type: 'quartet' },
  { kind: 'team', team_id: 7 },
])('WM2: an executor that no plan has, %j, gives null', (executor) => {
  const delegations = [{ ...progress.delegations[0], executor }];
  expect(checkProgress({ ...progress, delegations })).toBeNull();
});

it.each([
  { wave: 0 },
  { wave: 1.5 },
  { plan_ref: '../secret' },
  { summary: null },
  { delegations: [{ delegation_id: 'a' }] },
  { delegations: [{ ...progress.delegations[0], depends_on: [7] }] },
  { delegations: 'a' },
  { usage: { calls: 1 } },
  { criterion_ids: [7] },
])('WM2: a progress with %j gives null', (change) => {
  expect(checkProgress({ ...progress, ...change })).toBeNull();
});

it('bad news of a delivery are left out, and its answers are taken', () => {
  expect(checkDelivery({ ...delivery, news: [{ news_id: 0 }] })).toEqual(delivery);
});

it.each([
  { escalation_id: 7 },
  { answers: null },
  { answers: ['eu-west'] },
  { answers: [{ ...delivery.answers[0], answer: 7 }] },
  { answers: [{ ...delivery.answers[0], loop: 'no' }] },
])('WM2: a delivery with %j gives null', (change) => {
  expect(checkDelivery({ ...delivery, ...change })).toBeNull();
});

describe('finding C1: every message comes back with all its fields', () => {
  // `Required` makes the compiler ask for each optional field here, so that none is forgotten where messages are read.
  const spending = { calls: 1, tokens: 2, cost_micro_usd: 3 };
  const planned: Required<PlannedDelegation> = {
    delegation_id: 'a',
    agent_id: 'writer',
    title: 'A',
    depends_on: ['b'],
    executor: { kind: 'team', team_id: 'editors' },
    rule_of_two: 'reads untrusted text',
  };
  const question: Required<AskedQuestion> = {
    text: 'Which region?',
    why_it_matters: 'Latency.',
    priority: 'high',
    expected_answer_format: 'choice',
    choices: ['eu-west', 'us-east'],
    default_answer: 'eu-west',
    fact_key: 'region of the backup',
  };
  const verdict: Required<PlannerVerdict> = {
    verdict: 'answered',
    answer: 'eu-west',
    source_refs: ['f1'],
    reason: 'The goal says so.',
  };
  const effect: Required<RecordedEffect> = {
    effect_id: 'a/effect-1',
    wave: 1,
    delegation_id: 'a',
    agent_id: 'engineer',
    tool: 'write_file',
    arguments_ref: ref,
    state: 'confirmed',
    target: 'src/a.ts',
    receipt: { target: 'src/a.ts', sha256: ref, bytes: 12 },
    reason: 'The user vouched for it.',
    approval_question_id: 'q1',
    updated_at: 1_700_000_000,
  };
  const reservation: Required<BudgetRequest> = {
    request_id: 'r1',
    needs: spending,
    spent: spending,
    reserved: spending,
    worked_ms: 5,
  };
  const waveProgress: Required<WaveProgress> = {
    wave: 1,
    plan_ref: ref,
    summary: 'One task.',
    delegations: [planned],
    criterion_ids: ['a-c1'],
    usage: noUsage,
    mode: { mode: 'direct', reasons: ['1 agent (directly: at most 2)'] },
  };
  const answer: Required<DeliveredAnswer> = {
    question_id: 'q1',
    text: 'Which region?',
    answer: 'eu-west',
    answer_ref: ref,
    answered_by: 'user',
    loop: true,
    is_last: true,
    note_id: 'note_001',
  };
  const news: Required<NewsDelivery>['news'] = [
    { news_id: 1, type: 'instruction', instruction: 'Hurry.', criteria_waived: ['a-c1'] },
    {
      news_id: 2,
      type: 'answer',
      question_id: 'q1',
      text: 'Which region?',
      answer: 'eu-west',
      answer_ref: ref,
      answered_by: 'user',
      delegation_id: 'a',
      changed: true,
    },
  ];
  const answers: Required<Delivery> = { escalation_id: 'a#1', answers: [answer], news };
  const grant: Required<BudgetGrant> = {
    request_id: 'r1',
    reservation: { ...spending, until: 4 },
    reason: 'There is room.',
  };
  const amend: Required<AmendMessage> = {
    instruction: 'Compare the prices too',
    waive_criteria: ['goal-2'],
    answers: [{ question_id: 'q1', answer: 'us-east' }],
    facts: [{ key: 'region of the backup', value: 'us-east' }],
  };
  const control: Required<ControlMessage> = { reason: 'Lunch.' };
  const questions: Required<QuestionsEscalation> = {
    type: 'questions',
    escalation_id: 'a#1',
    from: 'run/wave-001/a',
    kind: 'blocking',
    wave: 1,
    delegation_id: 'a',
    agent_id: 'writer',
    questions: [question],
    verdicts: [verdict],
    spent: spending,
    before_request: 'r2',
    deadline_seconds: 60,
    budget_scope: 'run',
  };
  const budgetNeeds: Required<BudgetEscalation> = {
    type: 'budget',
    from: 'run/wave-001/a',
    delegation_id: 'a',
    ...reservation,
  };
  const parked: Required<ParkedEscalation> = {
    type: 'parked',
    from: 'run/wave-001',
    reason: 'No key.',
    until: 1_800_000_000_000,
  };
  const withdrawn: Required<WithdrawnEscalation> = {
    type: 'withdrawn',
    from: 'run/wave-001',
    delegation_id: 'a',
    escalation_id: 'a#2',
  };
  const effectReport: Required<EffectEscalation> = {
    type: 'effect',
    from: 'run/wave-001/a',
    effect,
  };
  const session: Required<SessionEscalation> = {
    type: 'session',
    from: 'run/wave-001/a',
    session: {
      delegation_id: 'a',
      agent_id: 'writer',
      status: 'blocked',
      at: 1_727_540_700,
      count: 3,
      unresolved: 1,
      session_ref: ref,
      refused: ['note_001'],
    },
  };
  const escalations = {
    session,
    questions,
    budget: budgetNeeds,
    parked,
    withdrawn,
    effect: effectReport,
  } satisfies { [Type in Escalation['type']]: Extract<Escalation, { type: Type }> };

  it('progress of a wave, with what a triad and a team do', () => {
    expect(checkProgress(waveProgress)).toEqual(waveProgress);
  });

  it('the answers that are delivered', () => {
    expect(checkDelivery(answers)).toEqual(answers);
  });

  it.each(Object.values(escalations))('an escalation of type $type', (escalation) => {
    expect(checkEscalation(escalation)).toEqual(escalation);
  });

  it('the withdrawal of all questions of a design', () => {
    const all = { type: 'withdrawn', from: 'run/design', delegation_id: null };
    expect(checkEscalation(all)).toEqual(all);
  });

  it('what was decided meanwhile', () => {
    expect(checkNews({ news })).toEqual({ news });
  });

  it('the reservation that is granted', () => {
    expect(checkBudgetGrant(grant)).toEqual(grant);
  });

  it('an instruction of the user', () => {
    expect(checkAmend(amend)).toEqual({ ok: true, amend });
  });

  it('the reason of a pause', () => {
    expect(checkControl(control)).toEqual({ ok: true, ...control });
  });
});

const effect: RecordedEffect = {
  effect_id: 'build/effect-1',
  wave: 1,
  delegation_id: 'build',
  agent_id: 'engineer',
  tool: 'write_file',
  arguments_ref: 'a'.repeat(64),
  state: 'confirmed',
  target: 'a.md',
  receipt: { target: 'a.md', sha256: 'b'.repeat(64), bytes: 3, replaced_ref: 'c'.repeat(64) },
  reason: '',
  approval_question_id: 'q1',
  updated_at: 1_760_000_000,
};

it('a report of ours comes back as it was sent, with the fields we know', () => {
  expect(readEffect({ ...effect, more: 1 })).toEqual(effect);
  const bare = { ...effect, receipt: null, approval_question_id: null };
  expect(readEffect(bare)).toEqual(bare);
  const removed = {
    ...effect,
    receipt: { target: 'a.md', sha256: 'b'.repeat(64), bytes: 0, removed: true },
  };
  expect(readEffect(removed)).toEqual(removed);
  expect(checkEscalation({ type: 'effect', from: 'run/wave-001/build', effect })).toEqual({
    type: 'effect',
    from: 'run/wave-001/build',
    effect,
  });
});

it('WM2: what no workflow of ours sends is none', () => {
  const fields = Object.keys(effect);
  for (const field of fields) {
    for (const bad of [undefined, {}, [], true, -1]) {
      expect(readEffect({ ...effect, [field]: bad })).toBeNull();
    }
  }
  expect(readEffect({ ...effect, state: 'done' })).toBeNull();
  expect(readEffect({ ...effect, arguments_ref: '../secret' })).toBeNull();
  expect(readEffect({ ...effect, receipt: { target: 'a', sha256: 'b', bytes: 1 } })).toBeNull();
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(readEffect(value)).toBeNull();
      expect(checkEscalation({ type: 'effect', from: 'a', effect: value })).toBeNull();
    }),
  );
});

it('long texts of a report are cut: they travel into the record', () => {
  const long = readEffect({ ...effect, reason: 'x'.repeat(100_000) });
  expect(long?.reason.length).toBeLessThanOrEqual(1_000);
});
