import { loadTexts } from '../../../activities/projection/record-texts.ts';
import type { PlacedCalls } from '../../../activities/run-record/read-calls.ts';
import { listJudgements, readDelegation } from '../../../activities/run-record/read-page-work.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import { useHarness } from './harness.ts';
import { delegation, outcome, output, plan } from './samples.ts';
import { offer, offerTriad, reportOf } from './triad-samples.ts';

const harness = useHarness();

const callsOf = (delegation_id: string, phase: string | null): PlacedCalls => ({
  wave: 1,
  delegation_id,
  phase,
  conversations: [{ agent_id: 'writer', member: null, stage: 'member', system: [], turns: [] }],
});

const facts = delegation('facts');

/** The outcome of `facts`, whose output a triad has judged. */
async function judgedOutcome(): Promise<DelegationOutcome> {
  const { type, reason, members } = offerTriad;
  const judging = { ...offer, delegation_id: 'facts.verify-1', title: 'Judge the facts' };
  const plan_ref = await harness.put(plan(facts, judging));
  const report_ref = await harness.put(await reportOf(harness, 'execute'));
  const phase = { phase: 'execute', attempt: 1, status: 'done', rounds: 1, report_ref } as const;
  const work = { type, reason, members, phases: [phase], dissent: [], failure: null };
  return outcome(harness, facts, output(), {
    verification: {
      verified_by: 'reviewer',
      status: 'verified',
      attempts: 1,
      results_refs: [],
      output_ref: null,
      judgement: {
        delegation_id: 'facts.verify-1',
        plan_ref,
        executor: { kind: 'triad', work },
      },
    },
  });
}

async function read(calls: readonly PlacedCalls[], ended: DelegationOutcome | null) {
  const judgements = ended === null ? [] : listJudgements(ended);
  const texts = await loadTexts(harness.deps.store, [
    {
      plans: judgements.map(({ plan_ref }) => plan_ref),
      phases: judgements.flatMap(({ phases }) => phases.map(({ report_ref }) => report_ref)),
      outputs: [ended?.output_ref ?? null],
    },
  ]);
  return readDelegation({ texts, calls, diffs: new Map() }, facts, ended);
}

it('the judgement of a triad is a part of the work that it judged, with its phases', async () => {
  const calls = [callsOf('facts', null), callsOf('facts.verify-1', 'execute')];
  const work = await read(calls, await judgedOutcome());
  expect(work?.parts).toMatchObject([
    {
      work_id: 'facts.verify-1',
      kind: 'triad',
      title: 'Judge the facts',
      state: 'done',
      parts: [{ title: 'execute', state: 'done', conversations: [{ agent_id: 'writer' }] }],
    },
  ]);
  expect(work?.parts[0]?.parts[0]?.record).toContain('I looked at both.');
});

it('a triad at work shows the calls of its phases', async () => {
  const work = await read([callsOf('facts.d1', 'deliberate')], null);
  expect(work?.parts).toMatchObject([
    {
      work_id: 'facts.d1',
      state: 'working',
      parts: [{ title: 'deliberate', state: 'working', conversations: [{ agent_id: 'writer' }] }],
    },
  ]);
});

it('nothing is at work in a delegation that has ended', async () => {
  const calls = [callsOf('facts.d1', null), callsOf('facts.d2', 'deliberate')];
  const work = await read(calls, await outcome(harness, facts, output()));
  const states = (work?.parts ?? [])
    .flatMap((one) => [one, ...one.parts])
    .map(({ state }) => state);
  expect(states).toEqual(['ended', 'ended', 'ended']);
});
