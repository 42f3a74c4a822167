import type { Delegation } from '../../../../contracts/delegation.ts';
import { parseJson } from '../../../../core/json.ts';
import type { CompletionNote } from '../../../../contracts/note.ts';
import { StoredPlan } from '../../../../contracts/wave-plan.ts';
import { orderJudgement, type ToJudge } from '../../../../core/verification/order-judgement.ts';
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

const nothing: ToJudge = {
  evidence: { checks: [], diff: '' },
  commands: [],
  notes: [],
  guidance: [],
};

const check = (found: string): ToJudge['evidence']['checks'][number] => ({
  criterion_id: 'c1',
  check: 'exit code 0 of make',
  result: 'not_run',
  found,
});

const noteOf = (description: string): CompletionNote => ({
  note_id: 'note_001',
  timestamp: 1,
  description,
  context: 'Reading.',
  category: 'documentation',
  status: 'open',
  resolution: null,
  resolved_by: null,
  resolution_timestamp: null,
  escalation_reason: null,
});

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
    {
      evidence: { checks: Array.from({ length: 20 }, () => check(long)), diff: long },
      commands: Array.from({ length: 20 }, () => ({ command: 'make', output_end: long })),
      notes: Array.from({ length: 20 }, () => noteOf(long.slice(0, 2_000))),
      guidance: [long, long],
    },
  );
  expect(StoredPlan.safeParse(wavePlan([ordered])).error).toBeUndefined();
  for (const { criterion_id } of acceptance_criteria) {
    expect(ordered.task_description).toContain(criterion_id);
  }
});

it('VJ2: the newest words of the user come first, and what is left out of them is counted', () => {
  const { task_description } = orderJudgement(author(), 'facts.verify-1', {
    ...nothing,
    guidance: ['Old words. '.repeat(600), `Newest: ${'n'.repeat(1_500)} end.`],
  });
  expect(task_description).toContain(' end.\n\nOld words.');
  expect(task_description).toContain('Newest: ');
  expect(task_description).toMatch(/\[Cut: the last \d+ of 8114 characters are left out\.\]/);
});

it('VJ2: lists are cut by their entries, and what is left is JSON', () => {
  const commands = Array.from({ length: 100 }, (_, at) => ({
    command: `make t${at}`,
    output_end: 'o'.repeat(1_000),
  }));
  const { task_description } = orderJudgement(author(), 'facts.verify-1', {
    ...nothing,
    evidence: { checks: [check('Found.')], diff: '+line\n'.repeat(5_000) },
    commands,
  });
  const [, list = ''] = /## Commands of its author\n([^#]*)/.exec(task_description) ?? [];
  const lines = list.trim().split('\n');
  const shown = lines.slice(0, -1).map((line) => parseJson(line));
  expect(shown.length).toBeGreaterThan(3);
  expect(shown).not.toContain(undefined);
  expect(shown.at(-1)).toMatchObject({ command: 'make t99' });
  expect(lines.at(-1)).toBe(`[Cut: the oldest ${100 - shown.length} of 100 entries are left out.]`);
  expect(task_description).toContain(JSON.stringify(check('Found.')));
  expect(task_description).toMatch(
    /\+line[^]*\[Cut: the last \d+ of 29999 characters are left out/,
  );
});

it('VJ3: it says whose output it judges, and nobody verifies it', () => {
  const ordered = orderJudgement(author(), 'facts.verify-1', nothing);
  expect(ordered.judges).toBe('facts');
  expect(ordered.verification).toBeUndefined();
});
