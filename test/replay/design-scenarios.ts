import { goal } from './scenario.ts';
import type { Scenario } from './scenario.ts';

/** A run that is designed first, as the rehearsal model plays it. */
export const designScenarios: readonly Scenario[] = [
  {
    name: 'designed',
    keep: {
      '': { last: 'plannerRun-designed' },
      '/design': { last: 'architectureDesign-designed' },
      '/design/risk': { last: 'riskAssessment-designed' },
    },
    async play(stage, runId) {
      const input = { goal, mode: 'designed', auto_approve: true, use_defaults: true };
      const run = await stage.start('plannerRun', input, runId);
      await run.result();
    },
  },
];
