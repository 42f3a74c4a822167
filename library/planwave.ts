/** Package `planwave`: starts runs and defines agents and tools. */
export { createPlanwave } from './create-planwave.ts';
export type {
  Planwave,
  PlanwaveOptions,
  PlanwaveRun,
  RunOutcome,
  StartOptions,
} from './create-planwave.ts';
export { defineAgent } from './define-agent.ts';
export type { Agent, AgentOptions } from './define-agent.ts';
export { defineTool } from './define-tool.ts';
export { NothingDone } from '../activities/tools/own-tool.ts';
export type { OwnContext, OwnTool } from '../activities/tools/own-tool.ts';
export { UnfitAnswer } from './typed-answer.ts';
export { PlanwaveClientError } from '../client/client-error.ts';
export type { ClientErrorCode } from '../client/client-error.ts';
export type { FollowEvent } from '../client/cli/follow/follow-event.ts';
