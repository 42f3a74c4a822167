import { describeModel } from '../../../scripts/main-start.ts';
import { renderTree } from '../../../client/cli/follow/render-tree.ts';
import { createPaint, cutToColumns, wrapToColumns } from '../../../client/cli/terminal-text.ts';
import { taskView, teamView } from '../../support/team-fixtures.ts';
import { delegation, listing, noUsage, snapshot, status, wave } from './support/samples.ts';

const paint = createPaint(false);
const summary = {
  wave: 1,
  io_status: 'NOT_OK',
  completed: 2,
  failed: 1,
  skipped: 0,
  criteria_met: 3,
  criteria_open: 1,
  usage: { ...noUsage, calls: 4 },
} as const;

const headOf = (over: object): string | undefined =>
  renderTree(snapshot({ status: status({ phase: 'working', wave: 0, ...over }) }), paint)[1];

it('shows the stages of a design that are at work, and between two the last one that is done', () => {
  const design = { workflow_id: 'run-1/design', stages_done: 9, last_stage: 'brief' } as const;
  const stages_at_work = ['research: PostgreSQL', 'consultation: api_agent'];
  expect(headOf({ design, stages_at_work })).toContain(
    'design: 9 stages done, now research: PostgreSQL; consultation: api_agent',
  );
  expect(headOf({ design })).toContain('design: 9 stages done, the last one brief');
  expect(headOf({ wave: 2, stages_at_work: ['poc evidence: a_1727539200'] })).toContain(
    'wave 2 of 5, now poc evidence: a_1727539200',
  );
});

it('shows the model calls of a design at work, each with its agent', () => {
  const heartbeat = { agent_id: 'researcher', stage: 'poc_evidence', turn: 2, output_tokens: 340 };
  const call = { id: 'e/1', activity_type: 'modelTurn', attempt: 1, last_failure: null, heartbeat };
  const lines = renderTree(snapshot({ stage_calls: [call, call] }), paint, 40);
  expect(lines.slice(-2)).toEqual([
    '├─ poc evidence (researcher) · thinks i…',
    '└─ poc evidence (researcher) · thinks i…',
  ]);
});

it('shows waves, delegations, what they do and what waits', () => {
  const lines = renderTree(
    snapshot({
      status: status({
        phase: 'waiting_for_user',
        wave: 2,
        waiting_for: ['waiting for your answer to q1'],
        usage: { ...noUsage, calls: 4 },
      }),
      done: [summary],
      plan_summary: 'Close the gap.',
      wave: wave({
        wave: 2,
        usage: { ...noUsage, calls: 2, cost_micro_usd: 250_000 },
        at_work: ['gather-facts'],
        delegations: [
          delegation({
            usage: { ...noUsage, calls: 2, input_tokens: 1_200, output_tokens: 40 },
            activity: {
              id: 'e/1',
              activity_type: 'modelTurn',
              attempt: 2,
              last_failure: null,
              heartbeat: { output_tokens: 17, last_words: 'and so\nthe price' },
            },
          }),
          delegation({
            delegation_id: 'write',
            agent_id: 'writer',
            title: 'Write it',
            state: 'pending',
            reason: 'input "facts" from gather-facts (running)',
          }),
        ],
      }),
    }),
    paint,
  );
  expect(lines).toEqual([
    'run-1 · Compare three databases',
    'waiting for user · wave 2 of 5 · 8 calls · 1.2k tokens in, 40 out · $0.25',
    '├─ wave 1 · done · 2 completed, 1 failed · 3 criteria met, 1 open · 4 calls · 0 tokens in, 0 out · $0.00',
    '└─ wave 2 · agents work · Close the gap.',
    '   ├─ ● gather-facts (researcher) · running · $0.00 · thinks, attempt 2, 17 tokens so far, “…and so the price” · 2 turns · 1.2k tokens in, 40 out · Gather the facts',
    '   └─ ○ write (writer) Write it · pending · needs input "facts" from gather-facts (running)',
    'waiting for your answer to q1',
  ]);
});

/** The line of one delegation that a triad does. */
const lineOf = (fields: Parameters<typeof delegation>[0]): string =>
  renderTree(
    snapshot({
      wave: wave({
        delegations: [delegation({ executor: { kind: 'triad', type: 'dialectic' }, ...fields })],
      }),
    }),
    paint,
  )[3] ?? '';

it('shows where a triad is, and who of it is at work', () => {
  const triad_phase = {
    type: 'dialectic',
    phase: 'negotiate',
    state: 'running',
    round: 2,
    rounds_max: 3,
    at_work: ['critic'],
    sections: [],
    claims: [],
  } as const;
  expect(lineOf({ triad_phase })).toBe(
    '   └─ ● gather-facts (dialectic triad) Gather the facts · running · negotiate, round 2 of 3: critic',
  );
  expect(lineOf({ triad_phase: { ...triad_phase, at_work: [] } })).toMatch(/round 2 of 3$/);
  const begun = { ...triad_phase, round: 0, at_work: [] };
  expect(lineOf({ triad_phase: begun })).toMatch(/ · running · negotiate$/);
  expect(lineOf({ state: 'pending' })).toMatch(/\(dialectic triad\) Gather the facts · pending$/);
});

it('shows who verifies an output, and in which attempt', () => {
  const verification = {
    verified_by: 'tester',
    state: 'verified',
    attempt: 2,
    attempts_max: 5,
  } as const;
  expect(lineOf({ verification })).toMatch(/ · running · verified by tester, attempt 2 of 5$/);
});

it('shows the tasks of a team below its delegation, and those of a team in it below them', () => {
  const nested = teamView({
    tasks: [taskView('d2.d1', { state: 'timed_out', reason: 'Too slow.' })],
  });
  const team_view = teamView({
    tasks: [
      taskView('d1', { state: 'completed', attempts: 2 }),
      taskView('d2', {
        member_id: 'testers',
        executor: { kind: 'team', team_id: null, view: nested },
      }),
    ],
    refused_total: 1,
  });
  const one = delegation({ executor: { kind: 'team', team_id: null }, team_view });
  const lines = renderTree(snapshot({ wave: wave({ delegations: [one, delegation()] }) }), paint);
  const used = '1 turn · 1.0k tokens in, 100 out · $0.002';
  expect(lines.slice(3)).toEqual([
    '   ├─ ● gather-facts (team) Gather the facts · running · leader waits for its members, 2 of 10 tasks, 1 call refused, 42 of 300 s',
    `   │  ├─ ✓ design.d1 (researcher) Task d1 · completed · attempt 2 · ${used}`,
    `   │  └─ ● design.d2 (testers) Task d2 · running · leader waits for its members, 1 of 10 tasks, 42 of 300 s · ${used}`,
    `   │     └─ ✗ design.d2.d1 (researcher) Task d2.d1 · timed out · ${used} · Too slow.`,
    '   └─ ● gather-facts (researcher) Gather the facts · running',
  ]);
});

it('a team of many tasks keeps to a screen', () => {
  const tasks = Array.from({ length: 15 }, (_, n) => taskView(`d${n}`));
  const one = delegation({
    executor: { kind: 'team', team_id: 'builders' },
    team_view: teamView({ tasks }),
  });
  const lines = renderTree(snapshot({ wave: wave({ delegations: [one] }) }), paint);
  expect(lines[3]).toContain('(team builders)');
  expect(lines[4]).toBe('      ├─ 3 earlier tasks');
  expect(lines).toHaveLength(4 + 13);
});

it('counts a wave once, and keeps its delegations when it is done', () => {
  const lines = renderTree(
    snapshot({
      status: status({ phase: 'completed', usage: summary.usage, wave_workflow_id: null }),
      done: [summary],
      wave: wave({ usage: summary.usage, delegations: [delegation({ state: 'completed' })] }),
    }),
    paint,
  );
  expect(lines[1]).toContain('4 calls');
  expect(lines.slice(2)).toEqual([
    expect.stringMatching(/^└─ wave 1 · done/),
    '   └─ ✓ gather-facts (researcher) Gather the facts · completed',
  ]);
});

it('shows what the server knows while no worker answers', () => {
  const lines = renderTree(
    snapshot({
      run: listing({ phase: 'waiting_for_user', waiting_for: ['waiting for q1'] }),
      status: null,
      note: 'No worker is running.',
    }),
    paint,
  );
  expect(lines).toEqual([
    'run-1 · Compare three databases',
    'waiting for user · wave 1',
    'No worker is running.',
    'waiting for q1',
  ]);
});

it('counts old waves in one line', () => {
  const done = [1, 2, 3, 4, 5, 6, 7].map((number) => ({ ...summary, wave: number }));
  const lines = renderTree(snapshot({ done }), paint);
  expect(lines[2]).toBe('├─ 2 earlier waves');
  expect(lines).toHaveLength(8);
});

it('shows nothing of a model that a terminal would act upon', () => {
  const evil = '\u001B[2Jx\n\u202E';
  const lines = renderTree(
    snapshot({
      status: status({ goal: evil, waiting_for: [evil] }),
      plan_summary: evil,
      wave: wave({
        delegations: [
          delegation({
            title: evil,
            reason: evil,
            activity: {
              id: 'e/1',
              activity_type: 'modelTurn',
              attempt: 1,
              last_failure: null,
              heartbeat: { last_words: evil },
            },
          }),
        ],
      }),
    }),
    paint,
  );
  expect(lines.join('')).not.toMatch(/\p{Cc}|\p{Bidi_C}/u);
});

const atWork = (activity_type: string, heartbeat: Readonly<Record<string, unknown>>) =>
  delegation({
    title: 'Gather every figure of the last three years from the archive',
    usage: { ...noUsage, calls: 2, cost_micro_usd: 250_000 },
    activity: { id: 'e/1', activity_type, attempt: 1, last_failure: null, heartbeat },
  });

describe('finding U10', () => {
  it('in 80 columns, each agent at work shows its cost and what it does now', () => {
    const delegations = [
      atWork('modelTurn', { stage: 'delegation', turn: 3, output_tokens: 17 }),
      atWork('runTool', { tool: 'run_command', last_words: 'npm test' }),
    ];
    const lines = renderTree(snapshot({ wave: wave({ delegations }) }), createPaint(false), 80);
    const shown = lines.filter((line) => line.includes('gather-facts'));
    expect(shown[0]).toContain('running · $0.25 · thinks in turn 3, 17');
    expect(shown[1]).toContain('running · $0.25 · calls run_command, “…npm');
  });

  it('the tree is cut to the width of the terminal, and what waits is not', () => {
    const title = 'Gather 事実 and every figure of the last three years';
    const waiting_for = ['waiting for your answer to q1: which of the three regions is meant?'];
    const shown = snapshot({
      status: status({ waiting_for }),
      wave: wave({ delegations: [delegation({ title })] }),
    });
    const plain = createPaint(false);
    const [whole, narrow] = [renderTree(shown, plain), renderTree(shown, plain, 40)];
    expect(narrow.length).toBeGreaterThanOrEqual(whole.length);
    const branch = narrow.find((line) => line.includes('gather-facts')) ?? '';
    // 事 takes two columns.
    expect(branch.replaceAll(/[事実]/g, 'xx').length).toBeLessThanOrEqual(40);
    expect(branch).toMatch(/…$/);
    expect(narrow.join(' ')).toContain(waiting_for[0]);
    expect(narrow.every((line) => line.length <= 40)).toBe(true);
    expect(cutToColumns('\u001B[1mbold text\u001B[22m', 5)).toBe('\u001B[1mbold…\u001B[22m');
    expect(cutToColumns('fits', 4)).toBe('fits');
  });

  it('a title gives way to the state of its delegation', () => {
    const title = 'Gather every figure of the last three years';
    const shown = snapshot({ wave: wave({ delegations: [delegation({ title })] }) });
    const branch = (columns: number): string =>
      renderTree(shown, paint, columns).find((line) => line.includes('gather-facts')) ?? '';
    expect(branch(200)).toContain(`${title} · running`);
    expect(branch(60)).toMatch(/Gather .*… · running/);
  });

  it('a long line breaks between words and keeps its indentation', () => {
    expect(wrapToColumns('  why it matters: the readers differ', 20)).toEqual([
      '  why it matters:',
      '  the readers differ',
    ]);
    expect(wrapToColumns('  +  const a = 1;', 40)).toEqual(['  +  const a = 1;']);
    expect(wrapToColumns('\u001B[1mq1\u001B[22m is open', 10)).toHaveLength(1);
    expect(wrapToColumns('a-word-without-end', 5)).toEqual(['a-word-without-end']);
    expect(wrapToColumns('', 5)).toEqual(['']);
  });

  it('npm start says first which model answers', () => {
    expect(describeModel({ needsRehearsal: true })).toContain(
      'the rehearsal model, as there is no',
    );
    expect(describeModel({ needsRehearsal: false })).not.toContain('rehearsal');
  });
});
