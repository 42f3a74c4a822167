import { eventually } from '../support/eventually.ts';
import { goal, type Scenario } from './scenario.ts';

export const evaluationScenarios: readonly Scenario[] = [
  {
    name: 'evaluation',
    keep: { '': { last: 'evaluation-matrix' } },
    async play(stage, runId) {
      const input = {
        name: 'matrix',
        goals: [{ name: 'backup', goal }],
        settings: [
          { name: 'alone', run: 'model' },
          { name: 'direct', run: 'direct' },
        ],
        graders: [
          { kind: 'regex', pattern: 'backup' },
          { kind: 'rubric', rubric: 'It names three ways.' },
        ],
        budget: { calls: 60 },
      };
      const run = await stage.start('evaluation', input, runId);
      await run.result();
    },
  },
  {
    name: 'evaluation-stopped',
    isTold: true,
    keep: { '': { last: 'evaluation-stopped' }, '-*': { last: 'delegation-parked' } },
    async play(stage, runId) {
      stage.rehearsal.script([
        { match: { schema: 'delegation' }, times: 1, reply: { status: 401 } },
      ]);
      const input = {
        name: 'stopped',
        goals: [{ name: 'backup', goal }],
        settings: [{ name: 'alone', run: 'model' }],
        repeat: 2,
        parallel: 1,
      };
      const run = await stage.start('evaluation', input, runId);
      const query = `PlanwavePhase = "parked" AND PlanwaveRun STARTS_WITH "${runId}-"`;
      await eventually('a parked cell', async () => {
        const { count } = await stage.client.workflow.count(query);
        return count === 1;
      });
      await run.signal('stop', { reason: 'no key' });
      await run.result();
    },
  },
  {
    name: 'evaluation-flooded',
    keep: { '': { last: 'evaluation-flooded' } },
    async play(stage, runId) {
      stage.rehearsal.script([
        { match: { schema: 'delegation' }, reply: { pass: true, delayMs: 600_000 } },
      ]);
      const goals = [{ name: 'backup', goal }];
      const settings = [{ name: 'alone', run: 'model' }];
      const input = { name: 'flooded', goals, settings, repeat: 2, parallel: 1 };
      const run = await stage.start('evaluation', input, runId);
      await stage.rehearsal.waitForCalls(1);
      await stage.stopWorker();
      const names = Array.from({ length: 101 }, (_one, nth) => (nth === 50 ? 'stop' : 'noise'));
      await Promise.all(names.map((name) => run.signal(name, { reason: 'enough' })));
      await stage.startWorker();
      await run.result();
    },
  },
  {
    name: 'evaluation-parked',
    failsOnce: { gradeCell: 'StoreUnavailable' },
    keep: { '': { last: 'evaluation-parked' } },
    async play(stage, runId) {
      const goals = [{ name: 'backup', goal }];
      const settings = [{ name: 'alone', run: 'model' }];
      const run = await stage.start('evaluation', { name: 'parked', goals, settings }, runId);
      await eventually('a parked cell', async () => {
        const query = '__temporal_workflow_metadata';
        const { currentDetails = '' } = await run.query<{ currentDetails?: string }>(query);
        return currentDetails.includes('parked: ');
      });
      await run.signal('resume', {});
      await run.result();
    },
  },
];
