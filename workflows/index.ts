export { architectureDesign } from './design/architecture-design.workflow.ts';
export { delegation } from './delegation/delegation.workflow.ts';
export { plannerRun } from './planner-run/planner-run.workflow.ts';
export { plannerWave } from './planner-wave/planner-wave.workflow.ts';
export { riskAssessment } from './design/risk-assessment.workflow.ts';
export { team } from './delegation/team.workflow.ts';
export { triad } from './delegation/triad.workflow.ts';
export { triadPhase } from './triad/triad-phase.workflow.ts';
