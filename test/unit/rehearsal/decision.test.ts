import { checkResolutions } from '../../../core/decision/check-resolutions.ts';
import { findDisputes } from '../../../core/pool/find-conflicts.ts';
import { askFor, decisionPrompt, startRig } from './support.ts';
import type { Rig } from './support.ts';
import { WaveDecision } from '../../../contracts/wave-plan.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.server.close());

const decide = async (outcomes: unknown, open: unknown): Promise<WaveDecision> =>
  WaveDecision.parse(
    await askFor(rig.client, WaveDecision, decisionPrompt('Open a bakery', outcomes, open)),
  );

const outcomes = [
  {
    delegation_id: 'gather-facts',
    status: 'completed',
    criteria_met: ['gather-facts-c1'],
    criteria_unmet: [],
    compact_md: 'Three facts.',
  },
  {
    delegation_id: 'write-result',
    status: 'failed',
    criteria_met: [],
    criteria_unmet: [{ criterion_id: 'write-result-c1', reason: 'No.' }],
    compact_md: 'Nothing.',
  },
];

test('OK when nothing is open, with a summary of what came back', async () => {
  const decision = await decide(outcomes, []);
  expect(decision.planner_decision).toMatchObject({
    io_status: 'OK',
    not_ok_reasons: [],
    next_actions: [],
  });
  expect(decision.wave_compact).toContain('gather-facts');
  expect(decision.wave_compact).toContain('Three facts.');
  expect(decision.wave_detailed).toContain('write-result');
  expect(decision.needs_user_input).toBe(false);
});

test('NOT_OK with a reason and an action for each open criterion', async () => {
  const decision = await decide(outcomes, [
    { criterion_id: 'write-result-c1', description: 'A text.' },
  ]);
  expect(decision.planner_decision.io_status).toBe('NOT_OK');
  expect(decision.planner_decision.not_ok_reasons).toEqual(['write-result-c1 is still open.']);
  expect(decision.planner_decision.next_actions).toEqual(['Delegate write-result-c1 again.']);
});

test('many open criteria stay within the limits of the decision', async () => {
  const open = Array.from({ length: 80 }, (_, index) => ({ criterion_id: `c${index}` }));
  const decision = await decide([], open);
  expect(decision.planner_decision.next_actions).toHaveLength(50);
});

test('without a list of open criteria the outcomes decide', async () => {
  const prompt = decisionPrompt('Open a bakery', outcomes, []).replace(/^<open_criteria>.*/mu, '');
  const decision = WaveDecision.parse(await askFor(rig.client, WaveDecision, prompt));
  expect(decision.planner_decision.io_status).toBe('NOT_OK');
});

const side = (source: string, value: string, origin = 'agent') => ({ source, value, origin });

test('each conflict is resolved by name, and the user gives way to nobody', async () => {
  const conflicts = [
    { conflict: 'conflict:a', sides: [side('f1', 'EU'), side('x', 'eu'), side('y', 'US')] },
    { conflict: 'conflict:b', sides: [side('f2', '1'), side('f3', '2', 'user')] },
  ];
  const prompt = `${decisionPrompt('Open a bakery', outcomes, [])}\n\n<conflicts>${JSON.stringify(conflicts)}</conflicts>`;
  const decision = WaveDecision.parse(await askFor(rig.client, WaveDecision, prompt));
  expect(decision.planner_decision.conflicts_resolved).toMatchObject([
    { conflict: 'conflict:a', origin: 'f1', superseded: 'y' },
    { conflict: 'conflict:b', origin: 'f3', superseded: 'f2' },
  ]);
});

test('what a triad could not settle is resolved by its name, as the rules want it', async () => {
  const claim = {
    claim_id: 'keys.proposer',
    section_id: 'keys',
    member: 'proposer',
    about: 'ownership',
    revision: 1,
    proposal_ref: 'p1',
  } as const;
  const held = { member: 'critic', decision: 'HOLD', reason_ref: 'r1' } as const;
  const never = { member: 'synthesizer', decision: null, reason_ref: null } as const;
  const claims = [
    {
      ...claim,
      registered_by: 'proposer',
      revised_by: 'proposer',
      state: 'dissent',
      responses: [],
    } as const,
  ];
  const dissent = [{ ...claim, positions: [held, never] }];
  const disputes = findDisputes(1, [{ delegation_id: 'schema', claims, dissent }]).map(
    ({ conflict }) => conflict,
  );
  const conflicts = disputes.map(({ conflict_id, sides }) => ({ conflict: conflict_id, sides }));
  const prompt = `${decisionPrompt('Open a bakery', outcomes, [])}\n\n<conflicts>${JSON.stringify(conflicts)}</conflicts>`;
  const decision = WaveDecision.parse(await askFor(rig.client, WaveDecision, prompt));
  expect(decision.planner_decision.conflicts_resolved).toMatchObject([
    { conflict: 'conflict:triad/schema/keys' },
  ]);
  expect(checkResolutions(decision, { pool: [], stated: [], disputes })).toEqual([]);
});
