import type { WorkflowHandle } from '@temporalio/client';
import type { ScriptRule } from '../../../rehearsal/script.ts';
import { askFromElsewhere } from '../../support/as-child.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { deepScript } from '../../support/deep-run.ts';
import { eventually } from '../../support/eventually.ts';
import { openHookServer } from '../../support/hook-server.ts';
import { eventTypes, fetchHistories } from '../../support/histories.ts';
import { question } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const hook = await openHookServer();
afterAll(() => hook.close());
const { stage } = useStage({
  serverArguments: ['--dynamic-config-value=limit.historyCount.suggestContinueAsNew=20'],
  settings: { notify: { kind: 'webhook', url: hook.url, key: hook.key } },
});

/** Asks for no part of the run, so that the question stays open from wave to wave. */
function ask(run: WorkflowHandle, text: string): Promise<void> {
  return askFromElsewhere(stage, run, question(text), text.replaceAll(/\W/g, ''));
}

const texts = (): readonly string[] => hook.heard.map(({ data }) => `${data.kind} ${data.text}`);

/** Continuations of the run itself so far. */
async function continuations(runId: string): Promise<number> {
  const histories = await fetchHistories(stage.client, runId);
  const own = histories.filter(({ workflowId }) => workflowId === runId).flatMap(eventTypes);
  return own.filter((type) => type === 'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW').length;
}

/** Lets the second wave be planned when the first question was told. */
function deepAfterTold(): readonly ScriptRule[] {
  return deepScript({ waves: 6, width: 2 }).map((rule) => ({
    ...rule,
    reply: async (request) => {
      if (request.callKey.includes('/wave-002/plan')) {
        await eventually('the first message', async () => hook.heard.length === 1);
      }
      return typeof rule.reply === 'function' ? rule.reply(request) : rule.reply;
    },
  }));
}

it('a run that continues as new tells each event once', async () => {
  stage.rehearsal.script(deepAfterTold());
  const input = { goal: 'Go deep', criteria: ['The last step is done'], limits: { max_waves: 6 } };
  const run = await stage.start('plannerRun', input);
  await ask(run, 'Who pays?');
  // The second wave asks, beside the first question.
  await openQuestion(stage, run, 'q2');
  expect(await continuations(run.workflowId)).toBeGreaterThan(0);
  await submit(run, { question_id: 'q1', answer: 'The client' });
  await ask(run, 'Who signs?');
  await eventually('the second message', async () => hook.heard.length === 2);
  const before = await continuations(run.workflowId);
  await submit(run, { question_id: 'q2', answer: 'Europe' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 6 });
  expect(await continuations(run.workflowId)).toBeGreaterThan(before);

  await eventually('the end', async () => texts().some((text) => text.startsWith('ended')));
  expect(texts()).toEqual([
    expect.stringMatching(/^needs_user .*q1: Who pays\?/),
    expect.stringMatching(/^needs_user .*Who signs\?/),
    'ended ',
  ]);
});
