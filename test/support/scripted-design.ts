import { designStageNames } from '../../contracts/names.ts';
import type { DesignStageName } from '../../contracts/names.ts';
import type { RecordedCall, Reply, ScriptedRequest } from '../../rehearsal/script.ts';

/** Stages of a design until its approval. The others belong to the work on it. */
export const stagesUntilApproval: readonly DesignStageName[] = designStageNames.slice(
  0,
  designStageNames.indexOf('design_review') + 1,
);

/** Stage of a design that a call belongs to, and its technology or agent_name. */
export interface CalledStage {
  readonly stage: string;
  readonly subject: string | null;
}

/** @returns null for a call that belongs to no design. */
export function readStage({
  body,
}: Pick<RecordedCall | ScriptedRequest, 'body'>): CalledStage | null {
  // A block of text is a JSON string in the body.
  const text = JSON.stringify(body ?? null).replaceAll('\\"', '"');
  const stage = /<request kind="design" stage="(\w+)">/u.exec(text)?.[1];
  if (stage === undefined) return null;
  return { stage, subject: /<subject>"([^"]+)"<\/subject>/u.exec(text)?.[1] ?? null };
}

/** Names the stages of calls in their order: `research Markdown`. Calls of no design are left out. */
export function listStages(calls: readonly RecordedCall[]): readonly string[] {
  return calls.flatMap((call) => {
    const called = readStage(call);
    if (called === null) return [];
    return [called.subject === null ? called.stage : `${called.stage} ${called.subject}`];
  });
}

const doers = ['facts_agent', 'options_agent', 'result_agent'];

const fileOf = (agent: string, task: string) => ({
  path: `agents/${agent}/task_output/${task}.md`,
  format: 'Markdown with one section for each result and its source',
});

/**
 * Replies to the parts of a design with so many tasks in layers of three, each with a file for the next layer. Everything
 * else is the rehearsal's own.
 */
export function designOfTasks(count: number): (request: ScriptedRequest) => Reply {
  const tasks = Array.from({ length: count }, (_one, at) => ({
    task: `part_${at + 1}`,
    agent: doers[at % doers.length] ?? '',
    source: at < doers.length ? null : `part_${at + 1 - doers.length}`,
    sourceAgent: doers[at % doers.length] ?? '',
  }));
  const parts: Readonly<Record<string, unknown>> = {
    sequencing: {
      tasks: tasks.map(({ task, agent, source }) => ({
        task,
        title: `Work on ${task}`,
        agent,
        purpose: `Makes ${task}, which the next part builds on.`,
        depends_on: source === null ? [] : [source],
      })),
      max_parallel: 3,
    },
    file_structure: {
      tasks: tasks.map(({ task, agent, source, sourceAgent }) => ({
        task,
        inputs: source === null ? [] : [{ ...fileOf(sourceAgent, source), from: source }],
        outputs: [fileOf(agent, task)],
      })),
    },
    checkpoints: {
      tasks: tasks.map(({ task }) => ({
        task,
        verified_by: 'verifier_agent',
        evidence: [1, 2].map((nth) => ({
          evidence_id: `${task.replaceAll('_', '-')}-${nth}`,
          description: `${task}.md names ${nth} source for each of its results.`,
        })),
      })),
      escalation: ['Technical questions go to the planner.', 'Requirements go to the user.'],
    },
    instructions: {
      tasks: tasks.map(({ task }) => ({
        task,
        instructions: `## Objective\nWrite ${task}.\n\n## Context\n${'What this reader needs to know of the interview. '.repeat(20)}\n\n## Steps\n1. Do it.\n\n## Out of scope\nAll other parts.`,
      })),
    },
  };
  return (request) => {
    const part = parts[readStage(request)?.stage ?? ''];
    return part === undefined ? { pass: true } : { json: part };
  };
}
