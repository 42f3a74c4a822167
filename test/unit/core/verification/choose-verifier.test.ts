import {
  addVerifiers,
  chooseVerifier,
  checkVerdict,
} from '../../../../core/verification/choose-verifier.ts';
import type { Delegation } from '../../../../contracts/delegation.ts';
import type { VerifierTriad } from '../../../../contracts/verification.ts';
import { outlinePlan } from '../../../../core/plan/check-repetition.ts';
import { plannedDelegation, someRef, wavePlan } from '../../../support/factories.ts';

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

const worksOn = (delegation_id: string, criterion_id: string): Delegation =>
  plannedDelegation(delegation_id, {
    acceptance_criteria: [{ criterion_id, description: 'It is there.' }],
  });

/** Returns the verifier of each delegation. */
function verifiersOf(
  delegations: readonly Delegation[],
  verify?: true | readonly string[],
): (string | undefined)[] {
  const plan = outlinePlan(wavePlan([...delegations]), someRef);
  const agents = [{ agent_id: 'writer' }, { agent_id: 'reviewer' }];
  return addVerifiers(plan, { agents, teams: null, ...(verify && { verify }) }).delegations.map(
    ({ verification }) => verification?.verified_by,
  );
}

it.each([
  ['nowhere without the setting', undefined, [undefined, undefined]],
  ['everywhere', true, ['reviewer', 'reviewer']],
  ['where a criterion requires one', ['goal-2', 'goal-3'], [undefined, 'reviewer']],
  ['nowhere when nobody works on the criterion', ['goal-3'], [undefined, undefined]],
] as const)('VC4: a verifier is added %s', (_where, verify, verifiers) => {
  const delegations = [worksOn('table', 'goal-1'), worksOn('note', 'goal-2')];
  expect(verifiersOf(delegations, verify)).toEqual(verifiers);
});

it.each([
  ['the first verifier of the plan', 'engineer', ['tester', 'reviewer'], 'tester'],
  ['another one of the plan than the author', 'tester', ['tester', 'writer'], 'writer'],
  ['one outside of the plan where its verifiers are authors', 'tester', ['tester'], 'reviewer'],
])('VC5: %s', (_name, agent_id, verifiers, verified_by) => {
  const made = { ...worksOn('table', 'goal-1'), agent_id };
  const agents = [{ agent_id: 'writer' }, { agent_id: 'reviewer' }];
  const { delegations } = addVerifiers(outlinePlan(wavePlan([made]), someRef), {
    agents,
    teams: null,
    verifiers,
  });
  expect(delegations[0]?.verification?.verified_by).toBe(verified_by);
});

const jury: VerifierTriad = {
  type: 'consensus',
  reason: 'A test.',
  members: ['analyst', 'tester', 'reviewer'].map((agent_id, at) => ({
    name: `peer-${at + 1}`,
    role: 'peer',
    agent_id,
  })),
};

it.each([
  ['as the triad that it is', 'engineer', { triad_agents: ['analyst', 'tester', 'reviewer'] }],
  ['and is passed over where a member of it is the author', 'tester', { verified_by: 'writer' }],
])('VC5: a verifier of the plan judges work beside the plan %s', (_how, agent_id, expected) => {
  const made = { ...worksOn('table', 'goal-1'), agent_id };
  const { delegations } = addVerifiers(outlinePlan(wavePlan([made]), someRef), {
    agents: [{ agent_id: 'writer' }],
    teams: null,
    verifiers: ['reviewer', 'writer'],
    verifier_triads: { reviewer: jury },
  });
  expect(delegations[0]?.verification).toMatchObject(expected);
  expect(delegations[0]?.verification?.triad).toEqual(agent_id === 'engineer' ? jury : undefined);
});

it('VC6: a triad that the run wants has no author, and its writer gives the verdict', () => {
  const agents = ['planner', 'analyst', 'writer', 'reviewer', 'tester'].map((agent_id) => ({
    agent_id,
  }));
  const made = [worksOn('table', 'goal-1'), worksOn('note', 'goal-2')];
  const authored = made.map((one) => ({ ...one, agent_id: 'writer' }));
  const { delegations } = addVerifiers(outlinePlan(wavePlan(authored), someRef), {
    agents,
    teams: null,
    verify: ['goal-2'],
    verify_triad: 'dialectic',
  });
  expect(delegations.map(({ verification }) => verification)).toMatchObject([
    undefined,
    {
      verified_by: 'analyst',
      triad_agents: ['analyst', 'reviewer', 'analyst'],
      triad: { type: 'dialectic', members: [{ role: 'proposer' }, { role: 'critic' }, {}] },
    },
  ]);
  const [alone] = addVerifiers(outlinePlan(wavePlan(authored), someRef), {
    agents: [{ agent_id: 'writer' }],
    teams: null,
    verify: true,
    verify_triad: 'dialectic',
  }).delegations;
  expect(alone?.verification).toEqual({ verified_by: '', verified_by_for_files: '' });
});

it('VC2: the verifier of a plan stays', () => {
  const ordered = {
    ...worksOn('table', 'goal-1'),
    verification: { verified_by: 'writer', checks: [] },
  };
  expect(verifiersOf([ordered], true)).toEqual(['writer']);
});

it.each([
  ['fail', 0, 1],
  ['pass', 1, 1],
  ['pass', 0, 0],
  ['fail', 2, 0],
] as const)('VD1: %s with %d entries has %d faults', (verdict, missing, count) => {
  const outline = {
    shape: 'verification',
    verdict: { verdict, missing, reviewed_notes: [], verdict_ref: someRef },
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
    verdict: {
      verdict,
      missing: 0,
      reviewed_notes: [],
      ...(refused_notes && { refused_notes }),
      verdict_ref: someRef,
    },
  } as const;
  expect(checkVerdict(outline)).toHaveLength(count);
});

it.each([
  ['pass', ['note_002'], 'note_001, note_003 not judged'],
  ['pass', ['note_003', 'note_001', 'note_002'], null],
  ['fail', [], null],
] as const)('VD2: %s that judges %j of three notes: %s', (verdict, reviewed_notes, left) => {
  const missing = verdict === 'fail' ? 1 : 0;
  const outline = {
    shape: 'verification',
    verdict: { verdict, missing, reviewed_notes, verdict_ref: someRef },
  } as const;
  const faults = checkVerdict(outline, { notes: 3 });
  expect(faults.map(({ path }) => path)).toEqual(left === null ? [] : ['reviewed_notes']);
  expect(faults[0]?.reason ?? '').toContain(left ?? '');
  expect(checkVerdict(outline)).toEqual([]);
});

it.each([
  ['pass', true, 1],
  ['pass', false, 0],
  ['fail', true, 0],
] as const)(
  'VD3: %s with a disputed judgement (%s) has %d faults',
  (verdict, isDisputed, count) => {
    const missing = verdict === 'fail' ? 1 : 0;
    const outline = {
      shape: 'verification',
      verdict: { verdict, missing, reviewed_notes: [], verdict_ref: someRef },
    } as const;
    expect(checkVerdict(outline, { isDisputed })).toHaveLength(count);
  },
);

it.each([
  ['writer', true],
  ['analyst', false],
])('VC1: a triad with the member %s may judge work of the analyst: %s', (member, ok) => {
  const [one] = outlinePlan(
    wavePlan([{ ...worksOn('table', 'goal-1'), agent_id: 'analyst' }]),
    someRef,
  ).delegations;
  if (one === undefined) throw new Error('The plan has no delegation.');
  const verification = {
    verified_by: 'reviewer',
    triad_agents: [member, 'tester', 'reviewer'],
  };
  expect(chooseVerifier({ ...one, verification }, {})).toMatchObject(
    ok ? { ok } : { ok, reason: 'analyst would verify its own work. Try: another verifier.' },
  );
});

const teams = [
  { team_id: 'desk', depth: 1, leader: 'leader', agents: ['leader', 'reviewer'] },
  { team_id: 'house', depth: 2, leader: 'leader', agents: ['leader', 'writer', 'reviewer'] },
];

it.each([
  ['a bare member', { members: [{ id: 'researcher' }, { id: 'reviewer' }] }],
  ['in a named team', { team_id: 'desk' }],
  ['in a team among its members', { members: [{ id: 'writer' }, { id: 'desk', team_id: 'desk' }] }],
  ['in a team that no longer exists', { team_id: 'gone' }],
] as const)('VC1: no agent of a team verifies its answer: %s', (where, team) => {
  const made = {
    ...worksOn('table', 'goal-1'),
    agent_id: 'leader',
    executor: { kind: 'team', ...team, members: 'members' in team ? [...team.members] : undefined },
  } as const;
  const agents = ['planner', 'leader', 'reviewer', 'researcher', 'writer', 'tester'].map(
    (agent_id) => ({ agent_id }),
  );
  const terms = { agents, teams, verify: true } as const;
  const [added] = addVerifiers(outlinePlan(wavePlan([made]), someRef), terms).delegations;
  const isGone = where.endsWith('exists');
  expect(added?.verification?.verified_by).toBe(isGone ? '' : 'tester');
  if (added === undefined) throw new Error('The plan has no delegation.');
  expect(chooseVerifier(added, {}).ok).toBe(!isGone);

  const ordered = { ...made, verification: { verified_by: 'reviewer', checks: [] } };
  const [kept] = addVerifiers(outlinePlan(wavePlan([ordered]), someRef), terms).delegations;
  if (kept === undefined) throw new Error('The plan has no delegation.');
  expect(chooseVerifier(kept, {})).toEqual({
    ok: false,
    agent_id: 'reviewer',
    reason: 'reviewer would verify its own work. Try: another verifier.',
  });
});

it('VC6: no seat of a triad that verifies is a member of the team', () => {
  const members = [{ id: 'reviewer' }];
  const made = {
    ...worksOn('table', 'goal-1'),
    agent_id: 'leader',
    executor: { kind: 'team', members },
  } as const;
  const agents = ['leader', 'reviewer', 'analyst', 'writer'].map((agent_id) => ({ agent_id }));
  const [added] = addVerifiers(outlinePlan(wavePlan([made]), someRef), {
    agents,
    teams,
    verify: true,
    verify_triad: 'consensus',
  }).delegations;
  expect(added?.verification?.triad_agents).toHaveLength(3);
  expect(added?.verification?.triad_agents).not.toContain('reviewer');
  expect(added?.verification?.authors).toEqual(['leader', 'reviewer']);
});
