import { checkPhaseStart } from '../../../core/triad/check-triad.ts';
import type { PhaseTeam, TypedStart } from '../../../core/triad/check-triad.ts';
import type { TriadPhase } from '../../../contracts/triad.ts';

const team: PhaseTeam = {
  members: [
    { name: 'ada', role: 'proposer' },
    { name: 'ben', role: 'critic' },
    { name: 'cleo', role: 'synthesizer' },
  ],
  sections: [{ section_id: 'schema' }, { section_id: 'index' }],
};

const check = (phase: TriadPhase, over: Partial<TypedStart> = {}) =>
  checkPhaseStart(
    { phase, has_summary: false, claims: undefined, owners: undefined, ...over },
    team,
  );

const claim = { section_id: 'schema', member: 'ada' };

it.each(['deliberate', 'negotiate', 'execute'] as const)(
  'PB1: %s may begin with nothing',
  (phase) => {
    expect(check(phase)).toEqual([]);
  },
);

it.each([
  ['deliberate', ['summary', 'claims', 'owners']],
  ['negotiate', ['owners']],
  ['execute', ['claims']],
] as const)('PB1: %s takes only what the phase before leaves: not %j', (phase, refused) => {
  const faults = check(phase, { has_summary: true, claims: [claim], owners: { schema: 'ada' } });
  expect(faults.map(({ path }) => path)).toEqual(refused);
});

it('PB2: sections are those of the spec, owners may write', () => {
  const claims = [
    { section_id: 'shema', member: 'ada' },
    { section_id: 'index', member: 'ben' },
    { section_id: 'index', member: 'dora' },
  ];
  expect(check('negotiate', { claims })).toEqual([
    {
      path: 'claims[0].section_id',
      reason: 'there is no section "shema"',
      hint: 'Try: one of "schema", "index"',
    },
    {
      path: 'claims[1].member',
      reason: 'a critic owns no sections',
      hint: 'Try: one of "ada", "cleo"',
    },
    {
      path: 'claims[2].member',
      reason: 'there is no member "dora"',
      hint: 'Try: one of "ada", "cleo"',
    },
  ]);
  const owners = { schema: 'cleo', table: 'ben' };
  expect(check('execute', { owners }).map(({ path }) => path)).toEqual([
    'owners.table',
    'owners.table',
  ]);
});

it('PB3: two members may claim one section, one member claims it once', () => {
  const rival = { ...claim, member: 'cleo' };
  expect(check('negotiate', { claims: [claim, rival] })).toEqual([]);
  const [fault] = check('negotiate', { claims: [claim, rival, claim] });
  expect(fault?.path).toBe('claims[2]');
  expect(fault?.reason).toContain('claims[0]');
});

it('PB4: all faults come at once, each with a hint', () => {
  const nobody = { section_id: 'x', member: 'y' };
  const faults = check('deliberate', {
    has_summary: true,
    claims: [nobody, nobody],
    owners: { z: 'ben' },
  });
  expect(faults).toHaveLength(10);
  for (const { hint } of faults) expect(hint).toMatch(/^Try: /);
});
