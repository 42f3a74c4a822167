import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { ContentReply, ReplyFunction, ScriptedToolCall } from '../../../rehearsal/script.ts';
import { MarkedTexts, rehearsedReply } from '../../support/marked-texts.ts';
import type { Reading } from '../../support/marked-texts.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { call, readMemberRequest, threeOf, triadWork } from '../../support/scripted-triad.ts';
import type { MemberRequest } from '../../support/scripted-triad.ts';
import { work } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const types = ['dialectic', 'consensus', 'hierarchical'] as const;
const triads: readonly string[] = types;

/** Those who work beside the first: what they do besides shows more lanes than a smooth run has. */
const seconds: readonly string[] = ['critic', 'peer-2', 'worker-2'];

/** The rehearsal's turn, and more of what could get out of a lane: a draft of everybody, questions, a revision. */
function busily(reply: ContentReply, member: MemberRequest): readonly ScriptedToolCall[] {
  const calls = reply.tool_use ?? [];
  if (member.taken.length > 0 || member.round > 1) return calls;
  const [section] = member.sections;
  const drafts = member.phase === 'deliberate' && member.tools.includes('edit_section');
  return [
    ...(seconds.includes(member.member) ? calls.map((one) => reviseFirst(one, member)) : calls),
    ...(drafts && section !== undefined
      ? [
          call('edit_section', {
            section_id: section.section_id,
            base_version: 1,
            text: 'A draft.',
            status: 'in_progress',
          }),
        ]
      : []),
    ...(seconds.includes(member.member) ? [call('get_current_claims', {})] : []),
  ];
}

function reviseFirst(one: ScriptedToolCall, { claims }: MemberRequest): ScriptedToolCall {
  const input: { claim_id?: string; reason?: string } = Object(one.input);
  const [claim] = claims;
  if (one.name !== 'negotiate_response' || input.claim_id !== claim?.claim_id) return one;
  return call('negotiate_response', {
    claim_id: claim?.claim_id ?? '',
    decision: 'REVISE',
    reason: input.reason ?? '',
    revised_proposal: `${claim?.proposal ?? ''} Revised.`,
  });
}

const texts = new MarkedTexts();

const speak: ReplyFunction = (request) => {
  const { callKey, turn } = request;
  const delegation = triads.find((id) => callKey.includes(`/${id}/`)) ?? '';
  const reply = rehearsedReply(request);
  if (turn !== null) {
    const tool_use = busily(reply, readMemberRequest(request));
    return texts.markReply({ ...reply, tool_use }, turn, delegation);
  }
  if (!callKey.includes('/code/')) return { pass: true };
  const place = { delegation, phase: 'execute', round: 1, member: 'coder', to: '' };
  return { text: `${reply.text ?? ''}\n// ${texts.mark({ ...place, kind: 'code' })}` };
};

/** A reading by a member in its turn. */
type TurnReading = Reading & { readonly reader: NonNullable<Reading['reader']> };

const isTurn = (one: Reading): one is TurnReading => one.reader !== null;
const isOthers = ({ text, reader }: TurnReading): boolean => text.member !== reader.member;
const isOfPhase = ({ text, reader }: TurnReading): boolean => text.phase === reader.phase;

/** Whether the turn is the writer's last: it sums up what all have done. */
function isWriting({ call: made }: Reading): boolean {
  return made.shape === 'delegation' || readMemberRequest(made).duties.summary;
}

/** Whether both were at work at the same time, so that neither may know of the other. */
function isAtOnce(one: TurnReading): boolean {
  const { text, reader } = one;
  const isParallel = [text.member, reader.member].every((name) => /^(?:peer|worker)-/u.test(name));
  return isParallel && isOfPhase(one) && text.round === reader.round && !isWriting(one);
}

/** Each once, sorted. */
function distinct<T>(items: readonly T[], describe: (item: T) => string): readonly string[] {
  return [...new Set(items.map(describe))].toSorted((a, b) => a.localeCompare(b));
}

const lane = ({ text, reader }: TurnReading): string =>
  `${text.delegation}: ${text.member} > ${reader.member}`;

it('no text leaves its lane: every request that reached the model is read', async () => {
  stage.rehearsal.script([{ reply: speak }]);
  const run = await stage.start('plannerWave', {
    goal: 'Compare two ways to store sensor data',
    delegations: [
      ...types.map((type) =>
        triadWork(type, type, {
          criteria: threeOf(type),
          task_description:
            'Write the first section as code: [code] What is agreed is a plan: [later]',
        }),
      ),
      work('alone'),
    ],
  });
  const { outcomes }: WaveResult = await run.result();
  expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 'completed'));
  const calls = stage.rehearsal.calls();
  const readings = texts.findReadings(calls);

  // Nobody else has anything of a triad: no other triad, and no agent. The planner sees the finished work, and nothing of how
  // it came about.
  expect(calls.filter(({ shape }) => shape === 'decision')).toHaveLength(1);
  const strangers = readings.filter(
    ({ text, call: made }) => !made.callKey.includes(`/${text.delegation}/`),
  );
  expect(strangers.filter(({ call: made }) => made.shape !== 'decision')).toEqual([]);
  expect(distinct(strangers, ({ text }) => text.kind)).toEqual(['code', 'section']);

  const turns = readings.filter(isTurn);
  const others = turns.filter(isOthers);
  expectLanes(others);
  expectRecords(others);
  // From phase to phase: the summary of the one before, and what stands in the spec.
  const crossing = turns.filter((one) => !isOfPhase(one));
  expect(
    distinct(crossing, ({ text, reader }) => `${text.kind}: ${text.phase} > ${reader.phase}`),
  ).toEqual([
    'draft: deliberate > execute',
    'draft: deliberate > negotiate',
    'proposal: deliberate > execute',
    'proposal: deliberate > negotiate',
    'proposal: negotiate > execute',
    'summary: deliberate > negotiate',
    'summary: negotiate > execute',
  ]);
  // Who writes code has its order, what was agreed, and what is there already.
  const coders = readings.filter((one) => !isTurn(one) && !strangers.includes(one));
  expect(distinct(coders, ({ text }) => text.kind)).toEqual(['draft', 'order', 'proposal']);
  await expectPromisesKept(stage, run.workflowId);
});

/** Expects that a member's text reaches every member that may read it, and no other. */
function expectLanes(others: readonly TurnReading[]): void {
  const said = others.filter(({ text }) => text.kind === 'said');
  expect(distinct(said, lane)).toEqual([
    'consensus: peer-1 > peer-2',
    'consensus: peer-1 > peer-3',
    'consensus: peer-2 > peer-1',
    'consensus: peer-2 > peer-3',
    'consensus: peer-3 > peer-1',
    'consensus: peer-3 > peer-2',
    'dialectic: critic > proposer',
    'dialectic: critic > synthesizer',
    'dialectic: proposer > critic',
    'dialectic: proposer > synthesizer',
    'hierarchical: orchestrator > worker-1',
    'hierarchical: worker-1 > orchestrator',
    'hierarchical: worker-2 > orchestrator',
  ]);
  // A worker hears its orchestrator only to sum up.
  const heard = said.filter(({ text }) => text.member === 'orchestrator');
  expect(heard.filter((one) => !isWriting(one))).toEqual([]);
  // The first round is blind, and so is every other that is taken at once.
  expect(others.filter(isAtOnce)).toEqual([]);
}

/** Expects that records for other members reach exactly those members. */
function expectRecords(others: readonly TurnReading[]): void {
  const instructions = others.filter(({ text }) => text.kind === 'instruction');
  expect(distinct(instructions, ({ text, reader }) => `${text.to} > ${reader.member}`)).toEqual([
    'worker-1 > worker-1',
    'worker-2 > worker-2',
  ]);
  // Of the drafts of one round the first in the order of members is taken; the others come to nobody.
  const drafts = others.filter(({ text }) => text.kind === 'draft');
  expect(distinct(drafts, ({ text }) => text.member)).toEqual(['peer-1', 'proposer', 'worker-1']);
  const ofPhase = others.filter(isOfPhase);
  expect(distinct(ofPhase, ({ text }) => text.kind)).toEqual([
    'code',
    'draft',
    'instruction',
    'proposal',
    'reason',
    'said',
    'section',
  ]);
}
