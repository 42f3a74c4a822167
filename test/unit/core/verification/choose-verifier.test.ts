import {
  addVerifiers,
  chooseVerifier,
  checkVerdict,
} from '../../../../core/verification/choose-verifier.ts';
import { someRef } from '../../../support/factories.ts';
import { delegation as delegationOf } from '../builders.ts';

const executor = { kind: 'agent' } as const;
const file = {
  path: 'a.md',
  sha256: someRef,
  bytes: 1,
  tool: 'write_file',
  arguments_ref: someRef,
};

const emptyPlan = {
  plan_ref: someRef,
  summary: 'Nothing.',
  delegations: [],
  criteria_by_answers: [],
  needs_user_input: false,
  user_questions: [],
};

it('VC1: an author is refused as its own verifier', () => {
  const delegation = { agent_id: 'writer', executor, verification: { verified_by: 'writer' } };
  expect(chooseVerifier(delegation, {})).toMatchObject({ ok: false });
  const other = { ...delegation, agent_id: 'engineer' };
  expect(chooseVerifier(other, {})).toEqual({ ok: true, agent_id: 'writer' });
});

it('VC3: the tester verifies files, and the reviewer texts', () => {
  const verification = { verified_by: 'reviewer', verified_by_for_files: 'tester' };
  const delegation = { agent_id: 'writer', executor, verification };
  expect(chooseVerifier(delegation, {})).toMatchObject({ agent_id: 'reviewer' });
  expect(chooseVerifier(delegation, { files: [file] })).toMatchObject({ agent_id: 'tester' });
});

it('VC2: without the setting nothing is added', () => {
  expect(addVerifiers(emptyPlan, { agents: [] })).toBe(emptyPlan);
});

it.each([
  ['the first verifier of the plan', 'writer', ['reviewer', 'tester'], 'reviewer'],
  ['another one of the plan than the author', 'reviewer', ['reviewer', 'tester'], 'tester'],
  [
    'an agent outside of the plan where its verifiers are authors',
    'reviewer',
    ['reviewer'],
    'writer',
  ],
])('VC4: %s', (_name, agent_id, verifiers, verified_by) => {
  const delegation = delegationOf('guide', { agent_id });
  const agents = ['planner', 'reviewer', 'writer'].map((id) => ({ agent_id: id }));
  const plan = { ...emptyPlan, delegations: [delegation] };
  const [added] = addVerifiers(plan, { agents, verifiers }).delegations;
  expect(added?.verification?.verified_by).toBe(verified_by);
});

it.each([
  ['fail', 0, 1],
  ['pass', 1, 1],
  ['pass', 0, 0],
  ['fail', 2, 0],
] as const)('VD1: %s with %d entries has %d faults', (verdict, missing, count) => {
  const outline = {
    shape: 'verification',
    verdict: { verdict, missing, verdict_ref: someRef },
  } as const;
  expect(checkVerdict(outline)).toHaveLength(count);
});

it.each([
  ['pass', ['note_001'], 1],
  ['fail', ['note_001'], 0],
  ['pass', undefined, 0],
] as const)('VD2: %s with the refused notes %j has %d faults', (verdict, refused_notes, count) => {
  const outline = {
    shape: 'verification',
    verdict: { verdict, missing: 0, ...(refused_notes && { refused_notes }), verdict_ref: someRef },
  } as const;
  expect(checkVerdict(outline)).toHaveLength(count);
});
