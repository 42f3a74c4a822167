import type { WorkflowHandle } from '@temporalio/client';
import type { AskedQuestion } from '../../contracts/question.ts';
import { eventually } from './eventually.ts';
import type { Stage } from './stage.ts';

const tokenHeader = 'planwave-token';

interface Sent {
  readonly metadata?: Record<string, Uint8Array> | null;
  readonly data?: Uint8Array | null;
}

/** Waits for the first wave of a run, and returns the header with the run's token from the start of that wave. */
async function tokenOf(stage: Stage, runId: string): Promise<Sent> {
  return eventually('the start of the first wave', async () => {
    const found = await stage.client.workflowService
      .getWorkflowExecutionHistory({
        namespace: 'default',
        execution: { workflowId: `${runId}/wave-001` },
        maximumPageSize: 1,
      })
      .catch(() => null);
    const started = found?.history?.events?.[0]?.workflowExecutionStartedEventAttributes;
    return started?.header?.fields?.[tokenHeader];
  });
}

/** Returns the token that the workflows of a run share, as its header holds it. */
export async function tokenText(stage: Stage, runId: string): Promise<string> {
  return String(JSON.parse(Buffer.from((await tokenOf(stage, runId)).data ?? []).toString()));
}

/** Escalates to a run as its own wave would. Waits until there is one. */
export async function escalateAsChild(
  stage: Stage,
  run: WorkflowHandle,
  payload: object,
): Promise<void> {
  await stage.client.workflowService.signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: run.workflowId },
    signalName: 'escalate',
    requestId: crypto.randomUUID(),
    input: {
      payloads: [
        {
          metadata: { encoding: Buffer.from('json/plain') },
          data: Buffer.from(JSON.stringify(payload)),
        },
      ],
    },
    header: { fields: { [tokenHeader]: await tokenOf(stage, run.workflowId) } },
  });
}

/** Asks a run a question that no part of it waits for, so that it stays open whatever the waves do. */
export function askFromElsewhere(
  stage: Stage,
  run: WorkflowHandle,
  asked: AskedQuestion,
  escalation_id = 'by-hand#1',
): Promise<void> {
  return escalateAsChild(stage, run, {
    type: 'questions',
    escalation_id,
    from: `${run.workflowId}-elsewhere`,
    kind: 'planner',
    wave: 1,
    delegation_id: null,
    agent_id: null,
    questions: [asked],
  });
}
