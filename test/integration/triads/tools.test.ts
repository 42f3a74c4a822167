import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type {
  RecordedCall,
  ReplyFunction,
  ScriptedToolCall,
  ScriptRule,
} from '../../../rehearsal/script.ts';
import { bodyOf, faultsOf } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  answers,
  call,
  memberCalls,
  memberReply,
  phaseReport,
  readMemberRequest,
  revisionNote,
  takes,
  threeOf,
  triad,
  triadWork,
} from '../../support/scripted-triad.ts';
import { callsOf, newestText } from '../../support/scripted-work.ts';
import { storedText } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

/** The models' own names: a rehearsal calls each of them by its own. */
const { stage } = useStage({ settings: { isRehearsal: false, defaultModel: 'claude-sonnet-5-5' } });

/** Calls of members that are none of theirs. */
const wrong: readonly ScriptRule[] = [
  takes(
    { within: 'wrong', member: 'proposer', phase: 'deliberate', nth: 1 },
    memberReply({
      calls: [
        call('register_claim', { section_id: 'elsewhere', proposal: 'Not asked for.' }),
        call('register_claim', { section_id: 'wrong-a', proposal: 'Yours.', for_member: 'critic' }),
      ],
    }),
  ),
  takes(
    { within: 'wrong', member: 'critic', phase: 'deliberate', nth: 1 },
    memberReply({ calls: [call('register_claim', { section_id: 'wrong-a', proposal: 'Mine.' })] }),
  ),
  takes(
    { within: 'wrong', member: 'critic', phase: 'negotiate', nth: 1 },
    answers(({ section_id }) => (section_id === 'wrong-b' ? 'HOLD' : 'CONCEDE')),
  ),
  takes(
    { within: 'wrong', member: 'critic', phase: 'negotiate', nth: 2 },
    memberReply({
      calls: [
        call('negotiate_response', {
          claim_id: 'wrong-a.proposer',
          decision: 'HOLD',
          reason: 'No.',
        }),
      ],
    }),
  ),
  takes(
    { within: 'wrong', member: 'critic', phase: 'execute', nth: 1 },
    memberReply({ calls: [generates('wrong-a')] }),
  ),
  takes(
    { within: 'code', member: 'peer-2', phase: 'execute', nth: 1 },
    memberReply({
      calls: [
        call('edit_section', {
          section_id: 'code-a',
          base_version: 1,
          text: 'I know better.',
          status: 'done',
        }),
        generates('code-a'),
      ],
    }),
  ),
];

function generates(section_id: string): ScriptedToolCall {
  const instructions = 'One function, no imports.';
  return call('generate_code', { section_id, language: 'typescript', instructions });
}

const code = 'export const answer = 42;';

/** The first reply has prose around the code. */
const writesCode: readonly ScriptRule[] = [
  takes(
    { within: 'code', member: 'peer-1', phase: 'execute', nth: 1 },
    memberReply({ calls: [generates('code-a')] }),
  ),
  {
    match: { callKeyIncludes: '/researcher/code/', nth: 1 },
    reply: { text: `Here it is:\n\`\`\`ts\n${code}\n\`\`\`` },
  },
  {
    match: { callKeyIncludes: '/researcher/code/', nth: 2 },
    reply: { text: `\`\`\`ts\n${code}\n\`\`\`` },
  },
];

function assign(member: string, instruction: string): ScriptedToolCall {
  return call('assign_turn', { member, instruction });
}

const contradiction = 'It keeps for 30 days what the second section reads after 90.';

/** Has the first section negotiated when all are done, by one worker after the other. */
function opensNegotiation(): ReplyFunction {
  let isOpened = false;
  return (request) => {
    const { sections, claims, team, turns } = readMemberRequest(request);
    if (turns === 1) return { pass: true };
    const [open] = claims;
    if (open !== undefined) {
      const asked = team.find(({ role, name }) => role === 'worker' && !open.agreed.includes(name));
      return memberReply({ calls: [assign(asked?.name ?? '', `Answer ${open.claim_id}.`)] });
    }
    const isDone = sections.every(({ status }) => status === 'done');
    if (!isDone || isOpened) return memberReply({ said: 'I wait for the others.' });
    isOpened = true;
    return memberReply({
      calls: [
        call('open_negotiation', { section_id: 'opened-a', reason: contradiction }),
        assign('worker-2', 'Answer what the first section says.'),
      ],
    });
  };
}

const negotiates: readonly ScriptRule[] = [
  takes({ within: 'opened', member: 'orchestrator', phase: 'execute' }, opensNegotiation()),
  takes(
    { within: 'opened', member: 'worker-2', phase: 'execute', round: 2 },
    answers(() => 'REVISE'),
  ),
];

/** Lists the texts of all error results in the newest message. */
function refusalsOf(made: RecordedCall | undefined): string[] {
  const content = bodyOf(made).messages.at(-1)?.content ?? [];
  if (typeof content === 'string') return [];
  return content.flatMap((block) =>
    block.type === 'tool_result' && block['is_error'] === true ? [String(block['content'])] : [],
  );
}

/** The second call of a member in a phase: what its first one came to. */
function answeredTo(id: string, member: string, phase: string, nth = 2): RecordedCall | undefined {
  const made = callsOf(stage.rehearsal, id).filter(
    ({ turn }) => turn?.member === member && turn.phase === phase,
  );
  return made[nth - 1];
}

it('tools do what role, phase and records allow, and nothing else', async () => {
  const lens = 'what it costs to run';
  const model = 'claude-haiku-5-5';
  const { members, ...rest } = triad('consensus');
  const various = members.map((one, at) => (at === 1 ? { ...one, lens, model } : one));
  stage.rehearsal.script([...wrong, ...writesCode, ...negotiates]);
  const run = await stage.start('plannerWave', {
    goal: 'Compare two ways to store sensor data [later]',
    delegations: [
      triadWork('wrong', 'dialectic', { criteria: ['wrong-a', 'wrong-b'] }),
      triadWork('code', 'consensus', {
        criteria: threeOf('code'),
        triad: { ...rest, members: various },
      }),
      triadWork('opened', 'hierarchical', { criteria: ['opened-a', 'opened-b'] }),
    ],
  });
  const { outcomes }: WaveResult = await run.result();
  expect(outcomes.map(({ status, reason }) => [status, reason])).toEqual(
    outcomes.map(() => ['completed', '']),
  );
  const [wrongs, coded, opened] = outcomes;
  await expectRefusals(wrongs);
  await expectCode(coded);
  await expectSettledOutput(opened);

  // Lens and model are those of one member, in every call of it and in the record.
  const models = callsOf(stage.rehearsal, 'code').map(({ turn, body }) => [
    turn?.member ?? 'coder',
    Object(body).model,
    JSON.stringify(body).includes(lens),
  ]);
  expect(models.filter(([member]) => member === 'peer-2').length).toBeGreaterThan(2);
  for (const [member, used, hasLens] of models) {
    expect([member, used, hasLens]).toEqual([
      member,
      member === 'peer-2' ? model : 'claude-sonnet-5-5',
      member === 'peer-2',
    ]);
  }
  const report = await phaseReport(stage.home, known(coded), 'execute');
  expect(report.members).toEqual(various);
  await expectPromisesKept(stage, run.workflowId);
});

it('members change files one after the other, because they share the copy of their delegation', async () => {
  const { members, ...rest } = triad('consensus');
  const engineers = members.map((one) => ({ ...one, agent_id: 'engineer' }));
  stage.rehearsal.script(
    members.map(({ name: member }) => {
      const input = { path: `${member}.md`, content: member };
      return takes(
        { within: 'files', member, phase: 'deliberate', nth: 1 },
        { tool_use: [{ name: 'write_file', input }] },
      );
    }),
  );
  const run = await stage.start('plannerWave', {
    goal: 'Write three files',
    workspace_dir: mkdtempSync(join(tmpdir(), 'planwave-files-')),
    changes: 'keep',
    delegations: [
      triadWork('files', 'consensus', {
        agent_id: 'engineer',
        criteria: threeOf('files'),
        triad: { ...rest, members: engineers },
      }),
    ],
  });
  const { outcomes }: WaveResult = await run.result();
  expect(outcomes.map(({ status, reason }) => [status, reason])).toEqual([['completed', '']]);
  const phase = stage.client.workflow.getHandle(`${run.workflowId}/files/deliberate`);
  const { events } = await phase.fetchHistory();
  const atWork = new Set<string>();
  const counts = (events ?? []).flatMap((event) => {
    const { activityType } = event.activityTaskScheduledEventAttributes ?? {};
    if (activityType?.name === 'runTool') return atWork.add(String(event.eventId)).size;
    atWork.delete(String(event.activityTaskCompletedEventAttributes?.scheduledEventId));
    return [];
  });
  expect(counts).toEqual([1, 1, 1]);
  await expectPromisesKept(stage, run.workflowId);
});

function known(outcome: DelegationOutcome | undefined): DelegationOutcome {
  if (outcome === undefined) throw new Error('There is no such outcome.');
  return outcome;
}

/** Each call comes back with what was expected, nothing of it is in the records, and the turn goes on. */
async function expectRefusals(outcome: DelegationOutcome | undefined): Promise<void> {
  const foreign = refusalsOf(answeredTo('wrong', 'proposer', 'deliberate'));
  expect(foreign).toEqual([
    expect.stringMatching(/section_id: the spec has no section .+elsewhere.+Try: one of/u),
    expect.stringMatching(/for_member: only an orchestrator claims for others.+Try: leave/u),
  ]);
  expect(refusalsOf(answeredTo('wrong', 'critic', 'deliberate'))).toEqual([
    expect.stringMatching(/register_claim is not a tool of your role in this phase.+Try: /u),
  ]);
  expect(refusalsOf(answeredTo('wrong', 'critic', 'negotiate', 3))).toEqual([
    expect.stringMatching(/claim_id: wrong-a\.proposer is settled.+Try: /u),
  ]);
  expect(refusalsOf(answeredTo('wrong', 'critic', 'execute'))).toEqual([
    expect.stringMatching(/generate_code is not a tool of your role in this phase.+Try: /u),
  ]);
  expect(refusalsOf(answeredTo('code', 'peer-2', 'execute'))).toEqual([
    expect.stringMatching(/section .+code-a.+ belongs to peer-1, and only its owner.+Try: /u),
    expect.stringMatching(/section .+code-a.+ is not yours.+Try: one of yours, .code-b/u),
  ]);
  const { spec } = await phaseReport(stage.home, known(outcome), 'negotiate');
  expect(spec.claims.map(({ claim_id, state }) => [claim_id, state])).toEqual([
    ['wrong-a.proposer', 'settled'],
    ['wrong-b.proposer', 'settled'],
  ]);
  expect(spec.claims[0]?.responses.map(({ decision }) => decision)).not.toContain('HOLD');
}

/** Only code comes back, and it is the section. */
async function expectCode(outcome: DelegationOutcome | undefined): Promise<void> {
  const written = callsOf(stage.rehearsal, 'code').filter(({ callKey }) =>
    callKey.includes('/researcher/code/'),
  );
  expect(written).toHaveLength(2);
  expect(faultsOf(written[1])).toEqual([expect.stringContaining('text stands before a fence')]);
  const { spec } = await phaseReport(stage.home, known(outcome), 'execute');
  const [section] = spec.sections;
  expect(section).toMatchObject({ owner: 'peer-1', status: 'done', language: 'typescript' });
  expect(await storedText(stage.home, section?.text_ref ?? '')).toBe(code);
  // The writer is told when it gives the output.
  const told = bodyOf(answeredTo('code', 'peer-1', 'execute')).messages.at(-1)?.content ?? [];
  const results = typeof told === 'string' ? [] : told.filter(({ type }) => type === 'tool_result');
  expect(results.map(({ content }) => String(content))).toEqual([
    expect.stringMatching(
      /^<data marker="[^"]+">\nexport const answer = 42;\n<\/data marker="[^"]+">$/u,
    ),
  ]);
}

/** Expects the second worker's revision of the first one's section, to which the first one agreed. */
async function expectSettledOutput(outcome: DelegationOutcome | undefined): Promise<void> {
  const { spec, rounds } = await phaseReport(stage.home, known(outcome), 'execute');
  expect(rounds).toBe(3);
  expect(spec.claims.at(-1)).toMatchObject({
    claim_id: 'opened-a.output',
    member: 'worker-1',
    registered_by: 'orchestrator',
    about: 'output',
    state: 'settled',
    revision: 2,
    revised_by: 'worker-2',
    responses: [
      { member: 'worker-2', decision: 'REVISE' },
      { member: 'worker-1', decision: 'CONCEDE' },
    ],
  });
  // Who has to answer is told why, and nothing of it is among what the other worker said.
  const asked = memberCalls(stage.rehearsal, { member: 'worker-2', phase: 'execute', round: 2 });
  expect(newestText(asked[0])).toContain(contradiction);
  expect(readMemberRequest(asked[0]).heard).toBe('');
  const [section] = spec.sections;
  expect(section).toMatchObject({ section_id: 'opened-a', owner: 'worker-1', status: 'done' });
  expect(section?.text_ref).toBe(spec.claims.at(-1)?.proposal_ref);
  expect(await storedText(stage.home, section?.text_ref ?? '')).toContain(revisionNote);
}
