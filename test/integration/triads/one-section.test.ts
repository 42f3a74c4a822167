import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { ContentReply, ReplyFunction, ScriptRule } from '../../../rehearsal/script.ts';
import { faultsOf } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  answers,
  call,
  memberCalls,
  memberReply,
  phaseReport,
  readMemberRequest,
  takes,
  triad,
  triadWork,
} from '../../support/scripted-triad.ts';
import { callsOf, decision, newestText } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const rivals = {
  drafts: ['peer-1', 'peer-2', 'peer-3'],
  pair: ['worker-1', 'worker-2'],
} as const;
type Rivalry = keyof typeof rivals;
const rivalries = ['drafts', 'pair'] as const;

/** How much longer than the one before a rival takes, in milliseconds: so long its result is on its way to the triad. */
const behindMs = 250;

/** Claims the one section that there is, and writes it. */
function writes(id: Rivalry, member: string): ContentReply {
  const section_id = `${id}-a`;
  const calls = [
    call('register_claim', { section_id, proposal: `As ${member} would have it.` }),
    call('edit_section', {
      section_id,
      base_version: 1,
      text: `Written by ${member}.`,
      status: 'in_progress',
    }),
  ];
  return memberReply({ said: `${member} wants it.`, calls });
}

/** The draft of a rival, once those who are to be faster have theirs. */
function writesAfter(id: Rivalry, member: string, faster: readonly string[]): ReplyFunction {
  return async () => {
    await eventually(`the drafts of ${faster.join(', ')}`, async () =>
      faster.every((name) => endOfDraft(id, name) < Infinity),
    );
    return { ...writes(id, member), thinkMs: faster.length === 0 ? 0 : behindMs };
  };
}

const holdsAll = answers(() => 'HOLD');

/** @param order Of the rivals, from the fastest. */
function rivalry(id: Rivalry, order: readonly string[]): readonly ScriptRule[] {
  return order.flatMap((member, place) => [
    takes(
      { within: id, member, phase: 'deliberate', nth: 1 },
      writesAfter(id, member, order.slice(0, place)),
    ),
    takes({ within: id, member, phase: 'negotiate' }, holdsAll),
  ]);
}

/** Leaves the claims to its workers. */
const assignsBoth = takes(
  { within: 'pair', member: 'orchestrator', phase: 'deliberate', nth: 1 },
  memberReply({
    calls: rivals.pair.map((member) =>
      call('assign_turn', { member, instruction: 'Claim what you want to do.' }),
    ),
  }),
);

const open = decision('drafts-a', 'pair-a');
const resolutions = rivalries.map((id) => ({
  conflict: `conflict:triad/${id}/${id}-a`,
  resolution: 'The second has the better draft.',
  origin: `wave-001/${id}/${rivals[id][1]}`,
  superseded: `wave-001/${id}/${rivals[id][0]}`,
}));
const resolved = {
  ...open,
  planner_decision: { ...open.planner_decision, conflicts_resolved: resolutions },
};

/** @param isReversed Whether the last member is the first to be through. */
async function play(isReversed: boolean) {
  const orderOf = (id: Rivalry): readonly string[] =>
    isReversed ? rivals[id].toReversed() : rivals[id];
  stage.rehearsal.reset();
  stage.rehearsal.script([
    assignsBoth,
    ...rivalries.flatMap((id) => rivalry(id, orderOf(id))),
    { match: { schema: 'decision', nth: 1 }, reply: { json: open } },
    { match: { schema: 'decision', nth: 2 }, reply: { json: resolved } },
  ]);
  const run = await stage.start(
    'plannerWave',
    {
      goal: 'Write one section',
      delegations: [
        triadWork('drafts', 'consensus', {
          criteria: ['drafts-a'],
          triad: triad('consensus', { rounds_max: 2 }),
        }),
        triadWork('pair', 'hierarchical', {
          criteria: ['pair-a'],
          triad: triad('hierarchical', { rounds_max: 2 }),
        }),
      ],
    },
    `rivals-${isReversed ? 'reversed' : 'in-order'}`,
  );
  const { outcomes, decision: decided }: WaveResult = await run.result();
  for (const id of rivalries) expect(whoWasFirst(id)).toEqual(orderOf(id));
  const decisions = stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');
  await expectPromisesKept(stage, run.workflowId);
  return {
    records: await Promise.all(outcomes.map((one) => recordsOf(one, run.workflowId))),
    returned: Object.values(rivals).flat().map(returnedTo),
    conflicts: /<conflicts>(.*)<\/conflicts>/u.exec(newestText(decisions[0]))?.[1],
    faults: faultsOf(decisions[1]),
    resolved: decided?.planner_decision.conflicts_resolved,
  };
}

/** The rivals of a triad in the order in which their drafts came. */
function whoWasFirst(id: Rivalry): readonly string[] {
  return rivals[id].toSorted((a, b) => endOfDraft(id, a) - endOfDraft(id, b));
}

/** Unix epoch milliseconds of the moment a rival's draft was told; infinite before. */
function endOfDraft(id: Rivalry, member: string): number {
  const draft = callsOf(stage.rehearsal, id).find(
    ({ turn, rule }) => rule !== null && turn?.phase === 'deliberate' && turn.member === member,
  );
  return draft?.endedAtMs ?? Infinity;
}

/** Returns the text that a member got back because another draft was accepted; null if none. */
function returnedTo(member: string): readonly [member: string, text: string | null] {
  const texts = memberCalls(stage.rehearsal, { member, phase: 'deliberate' })
    .map((made) => readMemberRequest(made).returned)
    .filter((text) => text !== '');
  expect(texts.length).toBeLessThan(2);
  return [member, texts[0] ?? null];
}

/** Spec and files of each phase, without what they cost. */
async function recordsOf(outcome: DelegationOutcome, runId: string) {
  const { delegation_id: id } = outcome;
  const phases = ['deliberate', 'negotiate', 'execute'] as const;
  return Promise.all(
    phases.map(async (phase) => {
      const { spec } = await phaseReport(stage.home, outcome, phase);
      const file = readFileSync(join(stage.home, runId, 'triads', id, `${phase}.md`), 'utf8');
      // An orchestrator hears each result as it arrives: whose was first is told there, and nowhere else.
      const [told = ''] = id === 'pair' ? file.split('## What was said') : [file];
      return { id, phase, spec, told: told.replaceAll(/^- \*\*(?:Used|Report):\*\*.*$/gmu, '') };
    }),
  );
}

it('fault 36: members who write one section in the same turn are the same conflict with the same result, whoever is first', async () => {
  const one = await play(false);
  const other = await play(true);
  expect(other).toEqual(one);

  // The first in the order of the plan has written it; what the others wrote came back to them.
  for (const [place, phases] of one.records.entries()) {
    const id = rivalries[place] ?? 'drafts';
    const [first, ...others] = rivals[id];
    expect(phases.map(({ spec }) => spec.sections)).toMatchObject(
      phases.map(() => [{ owner: null, version: 2 }]),
    );
    expect(phases[0]?.told).toContain(`Written by ${first}.`);
    for (const member of others) expect(phases[0]?.told).not.toContain(`Written by ${member}.`);
  }
  const came =
    /section .+ is at version 2 now, and you changed 1.+"current_text":"Written by .+-1\."/u;
  expect(one.returned).toEqual([
    ['peer-1', null],
    ['peer-2', expect.stringMatching(came)],
    ['peer-3', expect.stringMatching(came)],
    ['worker-1', null],
    ['worker-2', expect.stringMatching(came)],
  ]);
  // Nobody gave way, so the planner has to say whose claim stands.
  expect(JSON.parse(one.conflicts ?? '')).toMatchObject(
    rivalries.map((id) => ({
      conflict: `conflict:triad/${id}/${id}-a`,
      sides: rivals[id].map((member) => ({
        source: `wave-001/${id}/${member}`,
        value: expect.stringContaining(`claim ${id}-a.${member}`),
      })),
    })),
  );
  expect(one.faults).toHaveLength(2);
  expect(one.resolved).toEqual(resolutions);
});
