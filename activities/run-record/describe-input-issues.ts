import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import type { OpenRunInput } from '../../contracts/activity-types.ts';
import { findNearestKey, listNames } from '../../core/text/list-names.ts';
import { describeIssues, wholePath } from '../text/describe-issues.ts';
import { expandIssue, fieldsAt } from '../../contracts/output-fault.ts';

/** Everything that a schema found in a typed input, none left out, each with what was expected. */
export function describeInputIssues(error: z.ZodError, schema: z.ZodType): readonly InputFault[] {
  return error.issues.flatMap(expandIssue).flatMap((issue) => {
    const known = issue.code === 'unrecognized_keys' ? fieldsAt(schema, issue.path) : [];
    const fields = [...meantFields(issue, known), `Fields are: ${listNames(known)}`].join(' ');
    // One at a time, because a list is cut to what a model can mend at once.
    return describeIssues(new z.ZodError([issue])).map(({ path, reason, hint }) => ({
      path: path === wholePath ? 'input' : path,
      reason: joinSentences(reason, known.length === 0 ? hint : fields),
    }));
  });
}

/** Guesses which of the known fields the unknown ones were meant to be. */
function meantFields(issue: z.core.$ZodIssue, known: readonly string[]): string[] {
  if (issue.code !== 'unrecognized_keys') return [];
  const meant = issue.keys.flatMap((key) => findNearestKey(key, known) ?? []);
  return meant.length === 0 ? [] : [`Did you mean ${listNames([...new Set(meant)])}?`];
}

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
  riskAssessment:
    '{"plan":{"version":1,"task_name":"sensor-data","goal":"Say how to store sensor data","summary":"One list, checked by another agent.","max_parallel":1,"agents":[{"agent_name":"facts_agent","role":"doer","responsibility":"Lists the ways.","agent_id":"researcher"},{"agent_name":"verifier_agent","role":"verifier","responsibility":"Checks the list.","agent_id":"writer"}],"new_agents":[],"tasks":[{"task_id":"list_ways_1727539200","title":"List the ways","agent":"facts_agent","instructions":"List three ways to store sensor data.","inputs":[],"outputs":[{"path":"agents/facts_agent/task_output/ways.md","format":"Markdown"}],"depends_on":[],"validation":{"verified_by":"verifier_agent","evidence":[{"evidence_id":"ways-listed","description":"ways.md names 3 ways."}]},"proof_of_concept":null}],"risks":[],"escalation":["Ask the user by a blocking question."]}}',
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
  const message = describeInvalidInput(
    workflowType,
    faults.map(describeFault),
    inputExamples[workflowType],
  );
  return ApplicationFailure.nonRetryable(message, 'InvalidInput', faults.slice(0, faultsMax));
}

export function describeFault({ path, reason }: InputFault): string {
  return `${path}: ${reason}`;
}

/**
 * Describes an input with faults.
 *
 * @param example A valid input, on one line and ready to type.
 */
export function describeInvalidInput(
  workflowType: string,
  faults: readonly string[],
  example: string,
): string {
  const more = faults.length - faultsMax;
  return [
    `The input of ${workflowType} has ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}:`,
    ...faults.slice(0, faultsMax).map((fault) => `- ${fault}`),
    ...(more > 0 ? [`- … and ${more} more`] : []),
    `A good input: ${example}`,
  ].join('\n');
}

/** Joins a fault and its cure. Some reasons already end with a full stop. */
export function joinSentences(reason: string, hint: string): string {
  return `${reason.replace(/(?<!\.)\.+$/, '')}. ${hint}`;
}
