import type { StateCall } from '../../../contracts/state-call.ts';
import type { SpecState } from '../../../contracts/spec.ts';
import { engineLimits } from '../../../core/limits.ts';
import { phaseBytesMax, specBytesMax } from '../../../core/record-sizes.ts';
import type { PhaseState, TriadSetup } from '../../../core/triad/phase-state.ts';
import { openPhase, stepPhase } from '../../../core/triad/step-phase.ts';
import { dutiful, playTurn, setupOf, specOf, triadTypes } from '../../support/triad-play.ts';
import type { Player } from '../../support/triad-play.ts';
import { TriadPlan } from '../../../contracts/triad.ts';
import type { TriadPhase, TriadType } from '../../../contracts/triad.ts';

/** As long as a name may be, and as long as every reference is. */
const slug = (start: string): string => start.padEnd(40, 'x');
const ref = (start: string): string => start.padEnd(64, 'f');
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Claims, edits and disputes all that there is, and agrees to nothing. */
const greedy: Player = (order, work) => {
  const { brief } = order;
  if (work.events.length + work.assignments.length > 0) return dutiful(() => 'HOLD')(order, work);
  const calls = work.spec.sections.flatMap(({ section_id, version }): StateCall[] => [
    { tool: 'register_claim', section_id, for_member: null, proposal_ref: ref('p') },
    {
      tool: 'edit_section',
      section_id,
      base_version: version,
      status: 'in_progress',
      text_ref: ref('t'),
    },
    { tool: 'open_negotiation', section_id, reason_ref: ref('why') },
  ]);
  const answers = work.spec.claims.map(({ claim_id }): StateCall => ({
    tool: 'negotiate_response',
    claim_id,
    decision: 'REVISE',
    reason_ref: ref('r'),
    revised_ref: ref('v'),
  }));
  const turns = brief.team.map(({ name: member }): StateCall => ({
    tool: 'assign_turn',
    member,
    instruction_ref: ref('i'),
  }));
  return [...calls, ...answers, ...turns, ...dutiful(() => 'HOLD')(order, work)];
};

function largest(type: TriadType): TriadSetup {
  const { sectionsMax, roundsMax } = engineLimits;
  const ids = Array.from({ length: sectionsMax }, (_, at) => slug(`s${at}-`));
  const setup = setupOf(type, ids, roundsMax);
  const members = setup.members.map((one) => ({
    ...one,
    name: slug(one.name),
    lens: '中'.repeat(500),
  }));
  return { ...setup, members };
}

/** The state before each turn of a phase, with what the turns at work come to. */
function play(setup: TriadSetup, phase: TriadPhase, spec: SpecState) {
  let { state } = openPhase(setup, phase, { spec, summary_ref: ref('s') });
  const seen: { readonly state: PhaseState; readonly bytes: number }[] = [];
  while (state.outstanding.length > 0) {
    const { outstanding } = state;
    const works = outstanding.map((order) => ({
      ...playTurn(order, greedy, 200),
      spec: order.brief.spec,
    }));
    seen.push({ state, bytes: bytesOf({ state, works }) });
    const [first] = works;
    if (first === undefined) break;
    ({ state } = stepPhase(state, first));
  }
  return { state, seen };
}

it.each(triadTypes)('the largest %s triad stays below what limits.ts counts with', (type) => {
  const setup = largest(type);
  let spec = specOf(setup);
  let answers = 0;
  for (const phase of ['deliberate', 'negotiate', 'execute'] as const) {
    const { state, seen } = play(setup, phase, spec);
    expect(Math.max(...seen.map((one) => bytesOf(one.state.spec)))).toBeLessThan(
      specBytesMax(engineLimits),
    );
    expect(Math.max(...seen.map(({ bytes }) => bytes))).toBeLessThan(phaseBytesMax(engineLimits));
    ({ spec } = state);
    answers = spec.claims.reduce((sum, { responses }) => sum + responses.length, 0);
  }
  // It is the largest only if they really disagreed to the end.
  expect(answers).toBeGreaterThanOrEqual(2 * engineLimits.sectionsMax * engineLimits.roundsMax);
});

it('a plan may not ask for more than they count with', () => {
  const { rounds_max, sections } = TriadPlan.shape;
  const { roundsMax, sectionsMax } = engineLimits;
  const section = { section_id: 'api', text: 'All of it.' };
  const ask = (count: number) => sections.safeParse(Array.from({ length: count }, () => section));
  expect([rounds_max.safeParse(roundsMax), ask(sectionsMax)]).toMatchObject([
    { success: true },
    { success: true },
  ]);
  expect([rounds_max.safeParse(roundsMax + 1), ask(sectionsMax + 1)]).toMatchObject([
    { success: false },
    { success: false },
  ]);
});
