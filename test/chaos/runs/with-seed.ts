import { shopFiles } from '../../support/seed-run/repository.ts';
import { answerSeedRun, replyToSeedRun, seedGoal } from '../../support/seed-run/seed-run.ts';
import { campaignBudget, provideWorkspace } from './reference-run.ts';
import type { ReferenceRun } from './reference-run.ts';

/** All of seed 003 in one run on a folder of the user's, whose agents edit files and run commands. */
export const runWithSeed: ReferenceRun = {
  input: (runId, place) => ({
    goal: seedGoal,
    mode: 'designed',
    workspace_dir: provideWorkspace(place, runId, shopFiles),
    changes: 'apply',
    // Research of another run of the lane would save a call.
    research_max_age_days: 0,
    budget: campaignBudget,
  }),
  taskIds: [],
  askings: [],
  asksInSteps: true,
  answerTo: answerSeedRun,
  files: shopFiles,
  replyTo: replyToSeedRun,
};
