import type { CallAttempts } from '../../chaos/read-attempts.ts';
import type { RunFacts } from '../../chaos/run-facts.ts';
import { judgeRun } from '../../chaos/run-model.ts';
import type { Harm, Reference, SeenCall } from '../../chaos/run-model.ts';

/** The judge of the fault campaign: each wrong run has to be found out. */

const facts: RunFacts = {
  status: 'completed',
  waves: 1,
  criteria: ['costs-done: met'],
  artifacts: { plan: 'aa', decision: 'bb', costs: 'cc' },
  delegations: ['costs: completed after 2 turns'],
  phases: { 'region/execute': { status: 'done' } },
  design: null,
  reportFiles: { 'triads/region/execute.md': '# Execute' },
  thread: { messages: ['user: Go.', 'leader: Done.'], delegations: ['desk.law: completed'] },
  answers: ['costs: 120', 'region: eu-north'],
  deliveries: { costs: 1, facts: 0, region: 1 },
  files: { 'a.md': 'The text.' },
  effects: ['costs/effect-1: write_file confirmed'],
  effectFaults: [],
  outsideCalls: { costs: 1 },
  unsureCalls: 0,
  repeatedCalls: 0,
  refused: 0,
  open: 0,
  billedCalls: 3,
  attempts: {},
  callsMax: 10,
};
const reference: Reference = { facts, calls: ['plan 1', 'costs 1', 'decision 1'] };
const calls: readonly SeenCall[] = reference.calls.map((name) => ({ key: `key of ${name}`, name }));
const noHarm: Harm = {
  interruptions: [],
  paused: [],
  modelFaults: [],
  lateAnswers: 0,
  floodSignals: 0,
  isStopped: false,
  isReset: false,
};

interface Seen {
  readonly harm?: Partial<Harm>;
  readonly facts?: Partial<RunFacts>;
  readonly calls?: readonly SeenCall[];
}

function judge(seen: Seen = {}) {
  const harm = { ...noHarm, ...seen.harm };
  const made = seen.calls ?? calls;
  return judgeRun(reference, harm, {
    facts: { ...facts, attempts: toldOf(made), ...seen.facts },
    calls: made,
  });
}

/** Returns the attempts that the ledger has when every attempt tells its end. */
function toldOf(made: readonly SeenCall[]): RunFacts['attempts'] {
  return Object.fromEntries(
    made.map(({ key }) => {
      const count = made.filter((one) => one.key === key).length;
      return [key, { attempts: count, told: count, reserved: 0, free: 0 }];
    }),
  );
}

function breachesOf(seen: Seen): string[] {
  return judge(seen).breaches.map(({ kind }) => kind);
}

const again: readonly SeenCall[] = [...calls, { key: 'key of costs 1', name: 'costs 1' }];

it('the user may be asked whether a call was made as often as calls were interrupted', () => {
  expect(breachesOf({ facts: { unsureCalls: 1, repeatedCalls: 1 } })).toEqual([]);
  expect(breachesOf({ facts: { unsureCalls: 1 } })).toEqual(['broken promise']);
  expect(breachesOf({ facts: { unsureCalls: 2, repeatedCalls: 1 } })).toEqual(['broken promise']);
});

it('a run like the undisturbed one breaks nothing', () => {
  expect(judge()).toEqual({ breaches: [], boughtAgain: 0, boughtAgainMax: 0 });
});

it.each<[string, Partial<RunFacts>]>([
  ['another artifact', { artifacts: { ...facts.artifacts, costs: 'dd' } }],
  ['a missing artifact', { artifacts: { ...facts.artifacts, plan: null } }],
  ['another end', { status: 'stopped' }],
  ['another wave', { waves: 2 }],
  ['a criterion that is not met', { criteria: ['costs-done: open'] }],
  ['a turn more', { delegations: ['costs: completed after 3 turns'] }],
  ['another spec', { phases: { 'region/execute': { status: 'failed' } } }],
  ['a missing phase', { phases: {} }],
  ['a file that is not what an effect wrote', { effectFaults: ['a.md is another one'] }],
  ['a missing file of the workspace', { files: {} }],
  ['an effect less', { effects: [] }],
  ['an MCP server that was called twice for one effect', { outsideCalls: { costs: 2 } }],
  ['an MCP server that was not called', { outsideCalls: {} }],
  ['a torn file of a phase', { reportFiles: { 'triads/region/execute.md': '# Ex' } }],
  ['a thread that has nothing', { thread: null }],
  [
    'a thread that has it twice',
    { thread: { messages: ['user: Go.', 'user: Go.', 'leader: Done.'], delegations: [] } },
  ],
  ['an open question', { open: 1 }],
  ['a call that was billed and not made', { billedCalls: 4 }],
  ['a call that was made and not billed', { billedCalls: 2 }],
])('%s is another result', (_what, changed) => {
  expect(breachesOf({ facts: changed })).toEqual(['other result']);
});

it.each<[string, Partial<RunFacts>, string]>([
  ['an answer that is not kept', { answers: ['costs: 120'] }, 'answer lost'],
  [
    'an answer that became another',
    { answers: ['costs: 9000', 'region: eu-north'] },
    'answer lost',
  ],
  [
    'an answer that is kept twice',
    { answers: [...facts.answers, 'region: eu-north'] },
    'answer applied twice',
  ],
  [
    'an answer that was not delivered',
    { deliveries: { ...facts.deliveries, costs: 0 } },
    'answer lost',
  ],
  [
    'an answer that was delivered twice',
    { deliveries: { ...facts.deliveries, costs: 2 } },
    'answer applied twice',
  ],
])('%s is found', (_what, changed, kind) => {
  expect(breachesOf({ facts: changed })).toEqual([kind]);
});

it('an answer that came too late has to be listed as refused, and nothing else', () => {
  expect(breachesOf({ harm: { lateAnswers: 1 }, facts: { refused: 1 } })).toEqual([]);
  expect(breachesOf({ harm: { lateAnswers: 1 } })).toEqual(['answer lost']);
  expect(breachesOf({ facts: { refused: 1 } })).toEqual(['answer lost']);
});

it('a call may be made again for each interruption that found it without a reply', () => {
  const harm = { interruptions: [['key of costs 1'], []] };
  expect(judge({ harm, calls: again, facts: { billedCalls: 4 } })).toEqual({
    breaches: [],
    boughtAgain: 1,
    boughtAgainMax: 1,
  });
  const twice = [...again, { key: 'key of costs 1', name: 'costs 1' }];
  expect(breachesOf({ harm, calls: twice, facts: { billedCalls: 5 } })).toEqual(['bought again']);
});

it('a call that was recorded, or not interrupted, is never made again', () => {
  const billed = { billedCalls: 4 };
  expect(breachesOf({ calls: again, facts: billed })).toEqual(['bought again']);
  const harm = { interruptions: [['key of plan 1']] };
  expect(breachesOf({ harm, calls: again, facts: billed })).toEqual(['bought again']);
});

it('finding T2: the bill is what the ledger has, an attempt that never told its end included', () => {
  const key = 'key of costs 1';
  const harm = { interruptions: [[key], []] };
  const judged = (billedCalls: number, costs: Partial<CallAttempts>, callsMax = 10) => {
    const one = { attempts: 2, told: 1, reserved: 1, free: 0, ...costs };
    const attempts = { ...toldOf(again), [key]: one };
    return breachesOf({ harm, calls: again, facts: { billedCalls, callsMax, attempts } });
  };
  expect(judged(4, {})).toEqual([]);
  expect(judged(3, {})).toEqual(['other result']);
  expect(judged(5, {})).toEqual(['other result']);
  // A death between the reservation and the request.
  expect(judged(5, { attempts: 3, reserved: 2 })).toEqual([]);
  expect(judged(5, { attempts: 3, reserved: 1, told: 2 })).toEqual([]);
  expect(judged(4, { attempts: 3, reserved: 0, free: 1, told: 2 })).toEqual([]);
  // Without a cause, and a request that nothing was reserved for.
  expect(judged(5, { attempts: 3, told: 3, reserved: 0 })).toEqual(['other result']);
  expect(judged(7, { attempts: 5, reserved: 4 })).toEqual(['other result']);
  expect(judged(3, { attempts: 1, told: 1, reserved: 0 })).toEqual(['other result']);
  expect(judged(4, {}, 3)).toEqual(['over the budget']);
});

it('an attempt that a pause kept from its request takes its reservation back, perhaps after the run was told of it', () => {
  const key = 'key of costs 1';
  const judged = (billedCalls: number, { isPause = true, free = 1 } = {}) => {
    const attempts = {
      ...toldOf(calls),
      [key]: { attempts: 1 + free, told: 1, reserved: 0, free },
    };
    const harm = { interruptions: [[key]], paused: isPause ? [key] : [] };
    return breachesOf({ harm, facts: { billedCalls, attempts } });
  };
  expect([judged(3), judged(4)]).toEqual([[], []]);
  expect([judged(2), judged(5)]).toEqual([['other result'], ['other result']]);
  expect(judged(4, { isPause: false })).toEqual(['other result']);
  expect(judged(4, { free: 0 })).toEqual(['other result']);
});

it('a fault of the model is a call again, and is not bought again', () => {
  const harm = { modelFaults: ['key of costs 1'] };
  const attempts = {
    ...toldOf(again),
    'key of costs 1': { attempts: 2, told: 1, reserved: 0, free: 1 },
  };
  expect(judge({ harm, calls: again, facts: { attempts } })).toMatchObject({
    breaches: [],
    boughtAgain: 0,
  });
});

it('a call that nobody expected, and one that is missing, are other calls', () => {
  const more = [...calls, { key: 'key of costs 2', name: 'costs 2' }];
  expect(breachesOf({ calls: more, facts: { billedCalls: 4 } })).toEqual(['other calls']);
  expect(breachesOf({ calls: calls.slice(1), facts: { billedCalls: 3 } })).toContain('other calls');
});

it('more requests than the budget allows are a breach', () => {
  const seen = { facts: { callsMax: 2 } };
  expect(breachesOf(seen)).toEqual(['over the budget']);
});

it('a run that was stopped, or was reset, need not be like the undisturbed one, but its budget holds', () => {
  const half = {
    status: 'stopped',
    criteria: ['costs-done: open'],
    delegations: [],
    artifacts: {},
  };
  expect(breachesOf({ harm: { isStopped: true }, facts: half })).toEqual([]);
  expect(breachesOf({ facts: half })).not.toEqual([]);
  expect(
    breachesOf({ harm: { isStopped: true }, facts: { ...half, status: 'abandoned' } }),
  ).toEqual(['other result']);
  const calledTwice = { ...half, outsideCalls: { costs: 2 } };
  expect(breachesOf({ harm: { isStopped: true }, facts: calledTwice })).toEqual(['other result']);
  expect(breachesOf({ harm: { isStopped: true }, facts: { ...half, billedCalls: 2 } })).toEqual([
    'other result',
  ]);
  const reset = { harm: { isReset: true }, calls: again };
  expect(breachesOf({ ...reset, facts: { billedCalls: 4 } })).toEqual([]);
  expect(breachesOf({ ...reset, facts: { billedCalls: 4, waves: 2 } })).toEqual(['other result']);
  expect(breachesOf({ ...reset, facts: { billedCalls: 4, callsMax: 3 } })).toEqual([
    'over the budget',
  ]);
  const wrote = (text: string) => ({ billedCalls: 4, files: { ...facts.files, 'a.md': text } });
  const [known = ''] = Object.keys(facts.files);
  expect(known).not.toBe('');
  const twice = `${facts.files[known]}\n${facts.files[known]}`;
  const repeated = { billedCalls: 4, files: { ...facts.files, [known]: twice } };
  expect(breachesOf({ ...reset, facts: repeated })).toEqual([]);
  expect(breachesOf({ facts: { files: repeated.files } })).toEqual(['other result']);
  expect(breachesOf({ ...reset, facts: wrote('x') })).toEqual(['other result']);
});

function stopped(changed: Partial<RunFacts>, harm: Partial<Harm> = {}): string[] {
  return breachesOf({ harm: { isStopped: true, ...harm }, facts: changed });
}

it('a run that was stopped and is completed nevertheless is like the undisturbed one, its files and late answers left out', () => {
  expect(stopped({ files: {}, refused: 3 })).toEqual([]);
  expect(stopped({ artifacts: { ...facts.artifacts, costs: 'dd' } })).toEqual(['other result']);
  expect(stopped({ criteria: ['costs-done: open'] })).toEqual(['other result']);
  expect(stopped({ effects: [] })).toEqual(['other result']);
  expect(stopped({ answers: ['costs: 120'] })).toEqual(['answer lost']);
  // What a reset repeats may be there twice.
  expect(stopped({ thread: null, answers: [] }, { isReset: true })).toEqual([]);
  expect(stopped({ waves: 2 }, { isReset: true })).toEqual(['other result']);
});

it('a run that asks for more, or continues as new early, delivers answers otherwise', () => {
  const seen = { ...facts, attempts: toldOf(calls), deliveries: {} };
  const judgedAs = (peculiar: Partial<Reference>) =>
    judgeRun({ ...reference, ...peculiar }, noHarm, { facts: seen, calls }).breaches;
  expect(judgedAs({})).toHaveLength(2);
  expect(judgedAs({ asksForMore: true })).toEqual([]);
  expect(judgedAs({ hasShortHistories: true })).toEqual([]);
});

it('a request that the model refused counts for no limit, and any other one does', () => {
  const key = 'key of costs 1';
  const attempts = { ...toldOf(calls), [key]: { attempts: 2, told: 1, reserved: 0, free: 1 } };
  const seen = { calls: again, facts: { attempts, callsMax: 3 } };
  expect(breachesOf({ ...seen, harm: { modelFaults: [key] } })).toEqual([]);
  expect(breachesOf({ ...seen, harm: { interruptions: [[key]] } })).toEqual(['over the budget']);
});

it('a run that asks for more makes a call anew under another key whose every reply was a fault', () => {
  const moved: readonly SeenCall[] = [...calls, { key: 'another key', name: 'costs 1' }];
  // The attempt after the fault found no room in the budget: it has an entry, and sent nothing.
  const attempts = {
    ...toldOf(moved),
    'key of costs 1': { attempts: 2, told: 1, reserved: 0, free: 1 },
  };
  const judgedAs = (modelFaults: readonly string[], asksForMore = true, made = toldOf(moved)) =>
    judgeRun(
      { ...reference, asksForMore },
      { ...noHarm, modelFaults },
      { facts: { ...facts, billedCalls: 4, attempts: made }, calls: moved },
    ).breaches.map(({ kind }) => kind);
  expect(judgedAs(['key of costs 1'])).toEqual([]);
  expect(judgedAs(['key of costs 1'], true, attempts)).toEqual([]);
  expect(judgedAs(['key of costs 1'], false, attempts)).toContain('other result');
  expect(judgedAs([])).toEqual(['other calls']);
  expect(judgedAs(['key of costs 1'], false)).toEqual(['other calls']);
});

it('a run that asks for more makes a call whose attempt was lost under another key, and no other', () => {
  const moved: readonly SeenCall[] = [...calls, { key: 'another key', name: 'costs 1' }];
  const lost = { attempts: 1, told: 0, reserved: 1, free: 0 };
  const judgedAs = (
    attempt: CallAttempts,
    interruptions: Harm['interruptions'],
    paused: Harm['paused'] = [],
  ) =>
    judgeRun(
      { ...reference, asksForMore: true },
      { ...noHarm, interruptions, paused },
      {
        facts: {
          ...facts,
          billedCalls: 4,
          attempts: { ...toldOf(moved), 'key of costs 1': attempt },
        },
        calls: moved,
      },
    ).breaches.map(({ kind }) => kind);
  expect(judgedAs(lost, [['key of costs 1']])).toEqual([]);
  expect(judgedAs(lost, [[]])).toEqual(['other calls']);
  const told = { ...lost, told: 1, reserved: 0 };
  const found = ['key of costs 1'];
  expect(judgedAs(told, [found])).toEqual(['other calls']);
  // Its attempt slept, and told of its reply after the run had asked for more.
  expect(judgedAs(told, [found], found)).toEqual([]);
  // Another attempt had a reply in time.
  expect(judgedAs({ ...told, attempts: 2 }, [found], found)).toContain('other calls');
});

it('every message of a flood is counted as refused', () => {
  expect(breachesOf({ harm: { floodSignals: 5 }, facts: { refused: 5 } })).toEqual([]);
  expect(breachesOf({ harm: { floodSignals: 5 }, facts: { refused: 4 } })).toEqual(['answer lost']);
});

it('calls of two executions that share a key are two calls', () => {
  const shared: readonly SeenCall[] = calls.map(({ name }) => ({
    key: name === 'plan 1' ? name : 'shared',
    name,
  }));
  expect(judge({ calls: shared })).toMatchObject({ breaches: [], boughtAgain: 0 });
  const bought = [...shared, { key: 'shared', name: 'costs 1' }];
  expect(breachesOf({ calls: bought, facts: { billedCalls: 4 } })).toEqual(['bought again']);
});
