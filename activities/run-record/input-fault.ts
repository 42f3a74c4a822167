import { ApplicationFailure } from '@temporalio/common';
import type { OpenRunInput } from '../../contracts/activity-types.ts';

export type WorkflowType = OpenRunInput['workflow_type'];

/** One thing that is wrong with what a person typed, or with the agents it needs. */
export interface InputFault {
  /** Path in the input, `limits.max_waves`; for an agent's file its name and line, `writer.md:3`. */
  readonly path: string;
  /** What is wrong and what was expected. */
  readonly reason: string;
}

/** A good input for each workflow, on one line and ready to type. */
export const inputExamples: Readonly<Record<WorkflowType, string>> = {
  plannerRun:
    '{"goal":"Compare three ways to store sensor data","criteria":["Each way is rated for cost and risk"]}',
  plannerWave: '{"goal":"Compare three ways to store sensor data"}',
  triad: '{"type":"dialectic","task":"Design a schema for sensor data"}',
  triadPhase: '{"phase":"deliberate","type":"dialectic","task":"Design a schema for sensor data"}',
  team: '{"message":"Compare three ways to store sensor data","members":["researcher","writer"]}',
  delegation: '{"agent_id":"researcher","task_description":"List three ways to store sensor data"}',
};

/** Faults of one failure. It has to fit into history, and who made 200 mistakes made one of them many times. */
const faultsMax = 200;

/** The failure of a run that can't begin. Its message lists every fault at once, its details hold them as a list. */
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

/** What is wrong, and then what to do. Some reasons end with a full stop already. */
export function joinSentences(reason: string, hint: string): string {
  return `${reason.replace(/(?<!\.)\.+$/, '')}. ${hint}`;
}
