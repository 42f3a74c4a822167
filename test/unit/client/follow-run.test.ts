import type { LoneOutcome } from '../../../contracts/delegation-run.ts';
import type { RunWavesView } from '../../../contracts/views.ts';
import { PlanwaveClientError } from '../../../client/client-error.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { describeLeaving, describeRest } from '../../../scripts/main-start.ts';
import { followRun } from '../../../client/cli/follow/follow-run.ts';
import type { FollowOptions } from '../../../client/cli/follow/follow-run.ts';
import { eventually } from '../../support/eventually.ts';
import { createFakeDeps, createFakeClient, notFound } from './support/fake-client.ts';
import { askingRun, endOf } from './support/asking-run.ts';
import { createFakeIo } from './support/fake-io.ts';
import { delegation, listing, noUsage, status, wave } from './support/samples.ts';

const lost = new PlanwaveClientError('unreachable', 'gone');

const options = (fields: Partial<FollowOptions> & Pick<FollowOptions, 'io'>): FollowOptions => ({
  json: false,
  defaults: false,
  askQuestions: true,
  pollEveryMs: 5,
  ...fields,
});

it('asks in the terminal, explains a refusal, and ends with the run', async () => {
  const { client, answers } = askingRun();
  const io = createFakeIo({ isTerminal: true });
  io.typeAfter('> ', 'maybe');
  io.typeAfter('> ', 'no');
  expect(await followRun(client, 'run-1', options({ io }))).toBe(0);
  expect(answers).toEqual([false]);
  expect(io.out()).toContain('q1 was not answered: expected true or false. For example:');
  expect(io.out()).toContain('run run-1: completed');
  expect(io.out()).toContain('result: .planning/run-1/result.md');
});

it('finding R2: watch ends with the answer itself, then says where the rest is', async () => {
  const { client } = askingRun();
  const io = createFakeIo();
  await followRun(client, 'run-1', options({ io, defaults: true }));
  expect(io.out()).toContain(
    '\n\n# Three databases\n\nTake the second.\n\nresult: .planning/run-1/result.md\nreport: .planning/run-1/report.md\n',
  );
  const asJson = createFakeIo();
  await followRun(client, 'run-1', options({ io: asJson, json: true }));
  expect(JSON.parse(asJson.out().trim().split('\n').at(-1) ?? '')).toMatchObject({
    type: 'ended',
    answer: '# Three databases\n\nTake the second.',
    result_path: '.planning/run-1/result.md',
    report_path: '.planning/run-1/report.md',
  });
});

it('a run that was stopped tells why', async () => {
  const end = endOf('completed');
  const stop_reason = 'The budget meeting\u001B[2J is over';
  const client = createFakeClient({
    describe: () => Promise.resolve(listing({ execution: 'completed' })),
    status: () => Promise.resolve({ live: true, view: status({ phase: 'stopped' }) }),
    result: () =>
      Promise.resolve(
        end.ended === 'result'
          ? { ...end, result: { ...end.result, status: 'stopped', stop_reason } }
          : end,
      ),
  });
  const io = createFakeIo();
  expect(await followRun(client, 'run-1', options({ io }))).toBe(1);
  expect(io.out()).toMatch(/run run-1: stopped · .*\n {2}The budget meeting is over\n/);
});

it('takes a question back that was answered elsewhere', async () => {
  const { client, answers } = askingRun();
  const io = createFakeIo({ isTerminal: true });
  const following = followRun(client, 'run-1', options({ io }));
  await eventually('the question', async () => io.out().includes('> '));
  answers.push('by someone else');
  expect(await following).toBe(0);
  expect(io.out()).toContain('q1 was answered elsewhere.');
});

it.each([true, false])(
  'says of a question that was withdrawn that it is no longer open: %j',
  async (isTerminal) => {
    const { client, answers } = askingRun(true);
    const io = createFakeIo({ isTerminal });
    const following = followRun(client, 'run-1', options({ io }));
    await eventually('the question', async () =>
      io.out().includes(isTerminal ? '> ' : 'answer with: '),
    );
    answers.push('it was withdrawn');
    expect(await following).toBe(0);
    expect(io.out()).toContain('q1 is no longer open');
    expect(io.out()).not.toContain('answered');
  },
);

it('answers with the default when that was asked for', async () => {
  const { client, answers } = askingRun();
  const io = createFakeIo();
  expect(await followRun(client, 'run-1', options({ io, defaults: true }))).toBe(0);
  expect(answers).toEqual([true]);
  expect(io.out()).toContain('q1 answered: true');
});

it('sends a default answer again when the connection was lost, and a refused one once', async () => {
  const { client, answers } = askingRun();
  const io = createFakeIo();
  let sent = 0;
  const answer: PlanwaveClient['answer'] = async (_run, { question_id }) => {
    if ((sent += 1) === 1) throw lost;
    setTimeout(() => answers.push('by hand'), 50);
    const example = { question_id, answer: true };
    return { status: 'refused', question_id, reason: 'a person has to answer', example };
  };
  const watching = options({ io, defaults: true });
  expect(await followRun(createFakeClient({ ...client, answer }), 'run-1', watching)).toBe(0);
  expect(sent).toBe(2);
});

it('tells the answers that the run gave itself, once', async () => {
  const { client, answers } = askingRun();
  const own = { text: 'Which region?', delegation_id: null, source_refs: [], answered_at: 1 };
  const io = createFakeIo();
  const answered = [
    { ...own, question_id: 'q2', answer: 'eu-west', answered_by: 'default' },
    { ...own, question_id: 'q3', answer: 'no', answered_by: 'Ada' },
  ];
  const told = createFakeClient({
    ...client,
    questions: () => {
      if (answers.length === 0) answers.push('by command');
      const view = { open: [], answered, rejected: [], rejected_total: 0 };
      return Promise.resolve({ live: true, view });
    },
  });
  await followRun(told, 'run-1', options({ io, defaults: true }));
  expect(io.out().match(/q2 .*/g)).toEqual(['q2 Which region? · answered by its default: eu-west']);
  expect(io.out()).not.toContain('q3');
});

it('without a terminal prints the command that answers, and waits', async () => {
  const { client, answers } = askingRun();
  const io = createFakeIo();
  const following = followRun(client, 'run-1', options({ io }));
  await eventually('the question', async () => io.out().includes('answer with: '));
  answers.push('by command');
  expect(await following).toBe(0);
  expect(io.out()).toContain('answer with: npm run planwave -- answer run-1 q1 yes');
  expect(io.out()).toContain('q1 is answered');
});

it('prints one JSON document per change with --json', async () => {
  const { client, answers } = askingRun();
  const io = createFakeIo({ isTerminal: true });
  const following = followRun(client, 'run-1', options({ io, json: true }));
  await eventually('the question', async () => io.out().includes('"type":"question"'));
  answers.push('by command');
  await following;
  const events = io
    .out()
    .trim()
    .split('\n')
    .map((line) => /^\{"type":"(\w+)".*\}$/.exec(line)?.[1]);
  expect(events[0]).toBe('phase');
  expect(events).toContain('question');
  expect(events.at(-1)).toBe('ended');
  expect(io.err()).toBe('');
});

it('says once that the connection is lost, and once that it is back', async () => {
  let looks = 0;
  const io = createFakeIo();
  const client = createFakeClient({
    describe: () => {
      looks += 1;
      if (looks > 1 && looks < 5) return Promise.reject(lost);
      return Promise.resolve(listing(looks < 6 ? {} : { execution: 'completed' }));
    },
    result: () => Promise.resolve(endOf('finished_unmet')),
  });
  expect(await followRun(client, 'run-1', options({ io }))).toBe(1);
  expect(io.out().match(/is lost\. The work is safe there/g)).toHaveLength(1);
  expect(io.out().match(/temporal\.test:7233 answers again/g)).toHaveLength(1);
  expect(io.out()).toContain('not met: c1 · no evidence');
});

it('ends with a delegation that was started by hand, and says where its result is', async () => {
  const outcome: LoneOutcome = {
    delegation_id: 'task',
    agent_id: 'writer',
    title: 'A haiku',
    status: 'completed',
    reason: '',
    criteria_met: ['c1'],
    criteria_unmet: [],
    produces: [],
    output_ref: null,
    loaded_details: [],
    turns: 1,
    usage: noUsage,
    executor: { kind: 'agent' },
    answer: 'Backups fall like snow.',
    result_path: 'run-1/result.md',
    report_path: 'run-1/report.md',
  };
  let looks = 0;
  const isOver = (): boolean => looks > 1;
  const client = createFakeClient({
    describe: () => {
      looks += 1;
      const over = { execution: 'completed', phase: 'finished_unmet' } as const;
      return Promise.resolve(listing(isOver() ? over : {}));
    },
    result: () => Promise.resolve({ ended: 'part', outcome }),
  });
  const io = createFakeIo();
  expect(await followRun(client, 'run-1', options({ io }))).toBe(1);
  expect(io.out()).toContain('run run-1: finished unmet');
  expect(io.out()).toContain('\n\nBackups fall like snow.\n\nresult: .planning/run-1/result.md');
});

it('follows a wave that was started by hand', async () => {
  let looks = 0;
  const view = wave({ delegations: [delegation()] });
  const asWaves: RunWavesView = JSON.parse(JSON.stringify(view));
  const client = createFakeClient({
    describe: () => {
      looks += 1;
      return Promise.resolve(listing(looks > 3 ? { execution: 'completed' } : {}));
    },
    status: () => Promise.resolve({ live: true, view: status({ wave_workflow_id: null }) }),
    // It answers the query of a run as the wave that it is.
    waves: () => Promise.resolve({ live: true, view: asWaves }),
    waveView: () => Promise.resolve({ live: true, view }),
    result: () => Promise.resolve(endOf('completed')),
  });
  const io = createFakeIo();
  expect(await followRun(client, 'run-1', options({ io }))).toBe(0);
  expect(io.out()).toContain('wave 1: ● gather-facts (researcher)');
});

it('leaves the run at Ctrl-C while it asks, however long it takes to look whether the question is open', async () => {
  const { client } = askingRun();
  const io = createFakeIo({ isTerminal: true });
  const look: PlanwaveClient['status'] = (runId) => {
    if (!io.out().includes('> ')) return client.status(runId);
    setImmediate(() => io.interrupt());
    return new Promise(() => {});
  };
  expect(await followRun({ ...client, status: look }, 'run-1', options({ io }))).toBe(130);
});

it('leaves the run at Ctrl-C and says how to come back', async () => {
  const io = createFakeIo();
  const following = followRun(createFakeClient(), 'run-1', options({ io }));
  setTimeout(() => io.interrupt(), 30);
  expect(await following).toBe(130);
  expect(io.out()).toContain(
    'Run run-1 goes on without you. Come back with: npm run planwave -- watch run-1',
  );
});

it('finding U7: Ctrl-C in npm start, which stops the worker too, says that the run stands still', async () => {
  const io = createFakeIo();
  const started: string[] = [];
  const deps = createFakeDeps(
    io,
    {},
    { describeLeaving, onStarted: (runId) => started.push(runId) },
  );
  const starting = runCli(['start', '--watch', 'Goal'], deps);
  await eventually('the start', async () => started.length > 0);
  io.interrupt();
  expect(await starting).toBe(130);
  expect(io.out()).toContain('Run run-1 stands still until its worker runs again');
  expect(io.out()).not.toContain('goes on without you');
  expect(describeRest(started[0], 130)).toBe(
    'Run run-1 is kept. To look at it again, or to let it go on: npm run dev, and in another terminal ' +
      'npm run planwave -- watch run-1',
  );
  expect(describeRest('run-1', 1)).toBe(
    'Run run-1 is kept. To look at everything that it did: npm run planwave -- view run-1',
  );
  expect(describeRest(undefined, 1)).toBe('No run was started.');
});

it('can be left while the server is away', async () => {
  let looks = 0;
  const io = createFakeIo();
  const client = createFakeClient({
    describe: () => ((looks += 1) > 1 ? Promise.reject(lost) : Promise.resolve(listing())),
  });
  const following = followRun(client, 'run-1', options({ io }));
  setTimeout(() => io.interrupt(), 50);
  expect(await following).toBe(130);
  const looksThen = looks;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(looks).toBeLessThanOrEqual(looksThen + 1);
});

it.each([notFound(), lost])('fails at the first look: %s', async (failure) => {
  const describe = (): Promise<never> => Promise.reject(failure);
  const client = createFakeClient({ describe });
  await expect(followRun(client, 'run-1', options({ io: createFakeIo() }))).rejects.toBe(failure);
});

it.each([
  ['InvalidInput', 2],
  ['ModelRequest', 1],
])('a run that failed with %s ends with %i', async (type, exitCode) => {
  const io = createFakeIo();
  const client = createFakeClient({
    describe: () => Promise.resolve(listing({ execution: 'failed' })),
    result: () => Promise.resolve({ ended: 'failed', type, reason: 'limits.max_waves: too big' }),
  });
  expect(await followRun(client, 'run-1', options({ io }))).toBe(exitCode);
  expect(io.out()).toBe('run run-1: failed · limits.max_waves: too big\n');
});

it('tells each fault of a refused input on a line of its own', async () => {
  const io = createFakeIo();
  const reason = 'The input has 2 faults:\n- members[0]: no agent.\n- timeout: too small.';
  const client = createFakeClient({
    describe: () => Promise.resolve(listing({ execution: 'failed' })),
    result: () => Promise.resolve({ ended: 'failed', type: 'InvalidInput', reason }),
  });
  await followRun(client, 'run-1', options({ io }));
  expect(io.out().split('\n')).toEqual([
    'run run-1: failed · The input has 2 faults:',
    '  - members[0]: no agent.',
    '  - timeout: too small.',
    '',
  ]);
});

it('goes on while no worker answers', async () => {
  let looks = 0;
  const io = createFakeIo();
  const client = createFakeClient({
    describe: () => {
      looks += 1;
      return Promise.resolve(listing(looks < 4 ? {} : { execution: 'completed' }));
    },
    status: () =>
      Promise.resolve({
        live: false,
        note: 'No worker is running.',
        stuck: [],
        last_known: listing(),
      }),
    result: () => Promise.resolve(endOf('completed')),
  });
  expect(await followRun(client, 'run-1', options({ io }))).toBe(0);
  expect(io.out().match(/No worker is running/g)).toHaveLength(1);
});
