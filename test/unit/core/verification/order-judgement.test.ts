import type { Delegation } from '../../../../contracts/delegation.ts';
import { StoredPlan } from '../../../../contracts/wave-plan.ts';
import { orderJudgement } from '../../../../core/verification/order-judgement.ts';
import { plannedDelegation, wavePlan } from '../../../support/factories.ts';

const triad = {
  type: 'dialectic' as const,
  reason: 'Three see more.',
  members: [
    { name: 'pro', role: 'proposer' as const, agent_id: 'analyst' },
    { name: 'con', role: 'critic' as const, agent_id: 'tester' },
    { name: 'syn', role: 'synthesizer' as const, agent_id: 'reviewer' },
  ],
};

const author = (over: Partial<Delegation> = {}): Delegation =>
  plannedDelegation('facts', {
    required_inputs: ['goal'],
    verification: { verified_by: 'reviewer', triad, checks: [] },
    ...over,
  });

const nothing = { evidence: '', notes: '', guidance: '' };

it('VJ1: the triad works on one section, and reads the output and what its author built on', () => {
  const ordered = orderJudgement(author(), 'facts.verify-1', nothing);
  expect(ordered).toMatchObject({
    delegation_id: 'facts.verify-1',
    agent_id: 'reviewer',
    required_inputs: ['facts', 'goal'],
    executor: { kind: 'triad', type: 'dialectic' },
    acceptance_criteria: [{ criterion_id: 'judgement' }],
  });
  const alone = author({ verification: { verified_by: 'reviewer', checks: [] } });
  expect(() => orderJudgement(alone, 'facts.verify-1', nothing)).toThrow('No triad verifies facts');
});

it('VJ2: it names each criterion, and is a task that can be stored, however long its texts are', () => {
  const long = 'x'.repeat(30_000);
  const acceptance_criteria = Array.from({ length: 20 }, (_, at) => ({
    criterion_id: `${'c'.repeat(36)}-${String(at).padStart(2, '0')}`,
    description: long.slice(0, 1_000),
  }));
  const ordered = orderJudgement(
    author({
      acceptance_criteria,
      task_description: long.slice(0, 20_000),
      title: 'é'.repeat(120),
    }),
    'facts.verify-1',
    { evidence: long, notes: long, guidance: long },
  );
  expect(StoredPlan.safeParse(wavePlan([ordered])).error).toBeUndefined();
  for (const { criterion_id } of acceptance_criteria) {
    expect(ordered.task_description).toContain(criterion_id);
  }
});

it('VJ3: it says whose output it judges, and nobody verifies it', () => {
  const ordered = orderJudgement(author(), 'facts.verify-1', nothing);
  expect(ordered.judges).toBe('facts');
  expect(ordered.verification).toBeUndefined();
});
