import {
  addVerifiers,
  chooseVerifier,
  checkVerdict,
} from '../../../../core/verification/choose-verifier.ts';
import { someRef } from '../../../support/factories.ts';

const executor = { kind: 'agent' } as const;
const file = {
  path: 'a.md',
  sha256: someRef,
  bytes: 1,
  tool: 'write_file',
  arguments_ref: someRef,
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
  const plan = {
    plan_ref: someRef,
    summary: 'Nothing.',
    delegations: [],
    criteria_by_answers: [],
    needs_user_input: false,
    user_questions: [],
  };
  expect(addVerifiers(plan, { agents: [] })).toBe(plan);
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
