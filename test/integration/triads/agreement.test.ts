import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { PlannerWaveInput, WaveResult } from '../../../contracts/planner-wave.ts';
import type { ScriptRule } from '../../../rehearsal/script.ts';
import { faultsOf } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  answers,
  phaseReport,
  revisionNote,
  takes,
  threeOf,
  triadWork,
} from '../../support/scripted-triad.ts';
import { completed, decision, plan, plans, work, works } from '../../support/scripted-work.ts';
import { storedRecord, storedText } from '../../support/stored-record.ts';
import type { Decide } from '../../support/scripted-triad.ts';
import { useStage } from '../../support/use-stage.ts';
import { triadOf } from '../../support/executors.ts';
import type { TriadType } from '../../../contracts/triad.ts';

const { stage } = useStage();

const goal = 'Compare two ways to store sensor data';
const types = ['dialectic', 'consensus', 'hierarchical'] as const;

/** Member that objects to a claim on a section of another member, by type. */
const objector: Readonly<Record<TriadType, string>> = {
  dialectic: 'critic',
  consensus: 'peer-2',
  hierarchical: 'worker-2',
};

const objects = (id: string, type: TriadType, decide: Decide): ScriptRule =>
  takes({ within: id, member: objector[type], phase: 'negotiate' }, answers(decide));

async function playWave(
  script: readonly ScriptRule[],
  delegations: PlannerWaveInput['delegations'],
): Promise<readonly DelegationOutcome[]> {
  stage.rehearsal.script(script);
  const limits = { max_parallel: 20 };
  const run = await stage.start('plannerWave', { goal, delegations, limits });
  const { outcomes }: WaveResult = await run.result();
  await expectPromisesKept(stage, run.workflowId);
  return outcomes;
}

/** Rounds of a negotiation, and its claims. */
async function negotiated(outcome: DelegationOutcome) {
  const { rounds, spec } = await phaseReport(stage.home, outcome, 'negotiate');
  return { rounds, claims: spec.claims, sections: spec.sections };
}

it('each type agrees in round 2 by a REVISE, and on the rest at once: the records say so, and the output has it', async () => {
  // In a dialectic triad a REVISE may be agreed to in its own round, so the critic holds first.
  const late: Readonly<Record<TriadType, Decide>> = {
    dialectic: ({ section_id }, round) =>
      section_id !== 'revised-dialectic-a' ? 'CONCEDE' : round === 1 ? 'HOLD' : 'REVISE',
    consensus: ({ section_id }) => (section_id === 'revised-consensus-a' ? 'REVISE' : 'CONCEDE'),
    hierarchical: ({ section_id }) =>
      section_id === 'revised-hierarchical-a' ? 'REVISE' : 'CONCEDE',
  };
  const delegations = types.map((type) =>
    triadWork(`revised-${type}`, type, { criteria: threeOf(`revised-${type}`) }),
  );
  const script = types.map((type) => objects(`revised-${type}`, type, late[type]));
  const outcomes = await playWave(script, delegations);
  for (const outcome of outcomes) {
    const { delegation_id: id } = outcome;
    const [, type = ''] = id.split('-');
    expect(outcome).toMatchObject({
      status: 'completed',
      reason: '',
      criteria_met: threeOf(id),
      executor: { work: { type, dissent: [], failure: null } },
    });
    const { rounds, claims, sections } = await negotiated(outcome);
    expect([id, rounds]).toEqual([id, 2]);
    expect(claims.map(({ state }) => state)).toEqual(['settled', 'settled', 'settled']);
    expect(sections.map(({ owner }) => owner)).not.toContain(null);
    expect([id, claims.map(({ revision }) => revision)]).toEqual([id, [2, 1, 1]]);
    const proposal = await storedText(stage.home, claims[0]?.proposal_ref ?? '');
    expect(proposal).toContain(revisionNote);
    const done = await phaseReport(stage.home, outcome, 'execute');
    expect(done.spec.sections.map(({ status }) => status)).toEqual(['done', 'done', 'done']);
  }
});

it('fault 33: a triad that never agrees ends at its last round, and the planner has to decide', async () => {
  const disputed = types.map((type) => disputedOf(type));
  const resolutions = types.map((type) => ({
    conflict: `conflict:triad/never-${type}/${disputedOf(type)}`,
    resolution: 'One agent does it alone.',
    origin: `wave-001/never-${type}/${claimant[type]}`,
    superseded: `wave-001/never-${type}/${objector[type]}`,
  }));
  const open = decision(...disputed);
  const resolved = { ...open.planner_decision, conflicts_resolved: resolutions };
  stage.rehearsal.script([
    ...types.map((type) =>
      objects(`never-${type}`, type, ({ section_id }) =>
        section_id === disputedOf(type) ? 'HOLD' : 'CONCEDE',
      ),
    ),
    plans(
      1,
      plan(
        types.map((type) =>
          triadWork(`never-${type}`, type, { criteria: threeOf(`never-${type}`) }),
        ),
      ),
    ),
    { match: { schema: 'decision', nth: 1 }, reply: { json: open } },
    {
      match: { schema: 'decision', nth: 2 },
      reply: { json: { ...open, planner_decision: resolved } },
    },
    plans(2, plan([work('alone', { criteria: disputed })])),
    works('alone', { json: completed(...disputed) }),
    { match: { schema: 'decision', nth: 3 }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });

  const folder = join(stage.home, result.result_path, '..');
  const { waves } = await storedRecord(stage.home, run.workflowId);
  expect(waves[0]?.outcomes).toHaveLength(types.length);
  for (const outcome of waves[0]?.outcomes ?? []) await expectDissent(outcome, folder);
  // The decision that passed over the disputes went back, with the name of each.
  const decisions = stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');
  expect(decisions).toHaveLength(3);
  const faults = faultsOf(decisions[1]).join('\n');
  const told = readFileSync(join(folder, 'report.md'), 'utf8');
  for (const { conflict, origin } of resolutions) {
    expect(faults).toContain(conflict);
    expect(told).toContain(`The planner let ${origin} stand: One agent does it alone.`);
  }
  await expectPromisesKept(stage, run.workflowId);
});

/** Member whose claim stays disputed, by type. */
const claimant: Readonly<Record<TriadType, string>> = {
  dialectic: 'proposer',
  consensus: 'peer-3',
  hierarchical: 'worker-1',
};

function disputedOf(type: TriadType): string {
  return threeOf(`never-${type}`)[2];
}

/** @param folder The readable files of the run. */
async function expectDissent(outcome: DelegationOutcome, folder: string): Promise<void> {
  const { delegation_id: id, output_ref } = outcome;
  const type = triadOf(outcome)?.type ?? 'dialectic';
  const [first, second, third] = threeOf(id);
  const member = objector[type];
  const claim_id = `${third}.${claimant[type]}`;
  expect(outcome).toMatchObject({
    status: 'completed',
    criteria_met: [first, second],
    criteria_unmet: [third],
    executor: { work: { dissent: [{ claim_id, positions: [{ member, decision: 'HOLD' }] }] } },
  });
  const { rounds, claims } = await negotiated(outcome);
  expect(rounds).toBe(3);
  const said = claims.find((one) => one.claim_id === claim_id)?.responses ?? [];
  expect(said.filter((one) => one.member === member).map(({ round }) => round)).toEqual([1, 2, 3]);
  const reason = `${member} says HOLD to ${claim_id}.`;
  const output: AgentOutput = JSON.parse(await storedText(stage.home, output_ref ?? ''));
  expect(output.compact_md).toContain(`Disputed to the end: \`${third}\``);
  expect(output.detailed_md).toMatch(/## Minority report/u);
  expect(output.detailed_md).toContain(reason);
  expect(readFileSync(join(folder, 'triads', id, 'negotiate.md'), 'utf8')).toContain(reason);
}
