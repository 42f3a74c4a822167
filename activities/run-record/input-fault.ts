import { ApplicationFailure } from '@temporalio/common';
import type { OpenRunInput } from '../../contracts/activity-types.ts';

export type WorkflowType = OpenRunInput['workflow_type'];

/** A fault of a typed input, or of the agents that it needs. */
export interface InputFault {
  /** Path in the input, `limits.max_waves`; for an agent's file its name and line, `writer.md:3`. */
  readonly path: string;
  /** The fault, and what was expected. */
  readonly reason: string;
}

/** A valid input for each workflow, on one line and ready to type. */
export const inputExamples: Readonly<Record<WorkflowType, string>> = {
  plannerRun:
    '{"goal":"Compare three ways to store sensor data","criteria":["Each way is rated for cost and risk"]}',
  plannerWave: '{"goal":"Compare three ways to store sensor data"}',
  triad: '{"type":"dialectic","task":"Design a schema for sensor data"}',
  triadPhase: '{"phase":"deliberate","type":"dialectic","task":"Design a schema for sensor data"}',
  team: '{"message":"Compare three ways to store sensor data","members":["researcher","writer"]}',
  architectureDesign: '{"goal":"Compare three ways to store sensor data"}',
  riskAssessment: '{"plan":{"version":1,"task_name":"sensor-data",…}}',
  delegation: '{"agent_id":"researcher","task_description":"List three ways to store sensor data"}',
};

/** Most faults of one failure. It has to fit into history, and 200 faults are mostly one mistake repeated. */
const faultsMax = 200;

/**
 * Creates the failure of a run that can't begin. Its message lists every fault at once, its details hold them as a
 * list.
 */
export function createInvalidInput(
  workflowType: WorkflowType,
  faults: readonly InputFault[],
): ApplicationFailure {
  const shown = faults.slice(0, faultsMax);
  const more = faults.length - shown.length;
  const message = [
    `The input of ${workflowType} has ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}:`,
    ...shown.map(({ path, reason }) => `- ${path}: ${reason}`),
    ...(more === 0 ? [] : [`- … and ${more} more`]),
    `A good input: ${inputExamples[workflowType]}`,
  ].join('\n');
  return ApplicationFailure.nonRetryable(message, 'InvalidInput', shown);
}

/** Joins a fault and its cure. Some reasons already end with a full stop. */
export function joinSentences(reason: string, hint: string): string {
  return `${reason.replace(/(?<!\.)\.+$/, '')}. ${hint}`;
}
