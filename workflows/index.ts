export { delegation } from './delegation/delegation.workflow.ts';
export { plannerRun } from './planner-run/planner-run.workflow.ts';
export { plannerWave } from './planner-wave/planner-wave.workflow.ts';
