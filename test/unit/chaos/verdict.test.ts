import type { CampaignResult, PhaseResult } from '../../chaos/campaign.ts';
import { findMissing } from '../../chaos/crowd-blows.ts';
import { renderPage, renderSummary } from '../../chaos/report.ts';
import { computeSpread } from '../../chaos/statistics.ts';
import { createTally } from '../../chaos/tally.ts';
import { judgeCampaign } from '../../chaos/verdict.ts';

function phase(over: Partial<PhaseResult> = {}): PhaseResult {
  return { ...createTally(), name: 'calls', title: 'kill -9 in a call', runs: 3, ...over };
}

const hurt = phase({ fired: { 'worker killed in a model call': 2 }, deaths: 2 });

function campaign(...phases: readonly PhaseResult[]): CampaignResult {
  return { seed: 7, events: 10, calls: 9, lanes: 3, phases, seconds: 60.4 };
}

it('nothing broken, nothing lost', () => {
  expect(judgeCampaign(campaign(hurt))).toMatchObject({
    runs: 3,
    deaths: 2,
    answersLost: 0,
    answersAppliedTwice: 0,
    operatorSteps: 0,
    faults: [],
  });
});

it('a breach, a stuck run, a moment that never came and a harm that was not done are faults', () => {
  const broken = phase({
    ...hurt,
    breaches: [{ kind: 'answer lost', run: 'r1', text: 'q1' }],
    stuck: ['r2: pending'],
    unreached: ['event 9'],
  });
  const verdict = judgeCampaign(campaign(broken, phase({ name: 'pauses' })));
  expect(verdict).toMatchObject({ answersLost: 1, operatorSteps: 1 });
  expect(verdict.faults).toEqual([
    'r1: answer lost: q1',
    'stuck: r2: pending',
    'calls: never came to event 9',
    'pauses: no harm was done',
  ]);
});

it('a blow against a crowd that never came is a fault, and the summary counts those that came', () => {
  const blows = [{ kind: 'worker paused in a crowd' }, { kind: 'bucket away in a crowd' }];
  const fired = { 'worker paused in a crowd': 2 };
  const result = campaign(
    phase({ name: 'crowd', fired, unreached: [...findMissing(blows, { fired })] }),
  );
  const verdict = judgeCampaign(result);
  expect(verdict.faults).toEqual([
    'crowd: never came to "bucket away in a crowd". Try: more --runs',
  ]);
  expect(verdict.pauses).toBe(2);
  expect(renderSummary(result, verdict)).toContain('crowd: worker paused in a crowd: 2');
});

it('a recovery with a call cut off has another limit than one without', () => {
  const sample = { kind: 'worker killed in a model call', firstMs: 5, last: 'modelTurn' } as const;
  const { recoveries } = judgeCampaign(
    campaign({
      ...hurt,
      recoveries: [
        { ...sample, inCall: true, callLeft: true, allMs: 11_000 },
        { ...sample, inCall: true, callLeft: true, allMs: 13_000 },
        { ...sample, inCall: false, callLeft: true, allMs: 5_000 },
        { ...sample, inCall: false, callLeft: false, allMs: 5_000 },
      ],
    }),
  );
  expect(recoveries.map(({ limitMs, overLimit }) => [limitMs, overLimit])).toEqual([
    [4_000, 1],
    [12_000, 0],
    [12_000, 1],
  ]);
});

it.each([
  [[], null],
  [[3], { count: 1, median: 3, p95: 3, max: 3 }],
  [[4, 1, 3, 2], { count: 4, median: 2, p95: 4, max: 4 }],
  [
    Array.from({ length: 100 }, (_one, index) => index + 1),
    { count: 100, median: 50, p95: 95, max: 100 },
  ],
])('%j lies so', (values, spread) => {
  expect(computeSpread(values)).toEqual(spread);
});

it('the page and the summary say seed, deaths and what was found', () => {
  const result = campaign({ ...hurt, stuck: ['r2: pending'] });
  const verdict = judgeCampaign(result);
  const repeat = 'npm run chaos -- --seed 7';
  const page = renderPage(result, verdict, { date: '2026-11-22', versions: ['Node 20'], repeat });
  for (const text of [
    'Seed 7',
    '| deaths',
    '## Breaches',
    'stuck: r2: pending',
    'kill -9 in a call',
  ]) {
    expect(page).toContain(text);
  }
  expect(renderSummary(result, verdict)).toContain('FAULT stuck: r2: pending');
});
