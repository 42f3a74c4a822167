/** Package `planwave/client`: the typed client that the command line uses. */
export { connectToServer } from '../client/connect.ts';
export { createPlanwaveClient } from '../client/planwave-client.ts';
export type { PlanwaveClient, PlanwaveClientOptions } from '../client/planwave-client.ts';
export { streamTeam } from '../client/stream-team.ts';
export type { TeamEvent } from '../client/team-event.ts';
export { PlanwaveClientError } from '../client/client-error.ts';
