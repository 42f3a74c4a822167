/**
 * Package `planwave/workflows`: the workflows, their inputs and their results, for workflows that start them as children
 * and for workers that bundle them. A child runs on a worker of planwave: name its task queue.
 */
export * from '../workflows/index.ts';
export { taskQueue } from '../contracts/names.ts';
export type { PlannerRunInput, PlannerRunResult } from '../contracts/planner-run.ts';
export type { TeamInput } from '../contracts/team.ts';
