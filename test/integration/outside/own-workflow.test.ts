import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { inputExamples } from '../../../activities/run-record/describe-input-issues.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** Queue of the user's own worker. */
const ownQueue = 'own-workflows';

let connection: NativeConnection;
let worker: Worker;
let running: Promise<void>;
beforeAll(async () => {
  connection = await NativeConnection.connect({ address: stage.address });
  worker = await Worker.create({
    connection,
    taskQueue: ownQueue,
    workflowsPath: fileURLToPath(new URL('../../support/own-workflow.ts', import.meta.url)),
  });
  running = worker.run();
});
afterAll(async () => {
  worker.shutdown();
  await running;
  await connection.close();
});

const plan = Object(JSON.parse(inputExamples.riskAssessment)).plan as unknown;

const parts: readonly (readonly [string, object])[] = [
  ['plannerWave', { goal: 'Compare three backups' }],
  ['architectureDesign', { plan, stage: 'verification' }],
  ['riskAssessment', { plan }],
  ['triadPhase', { phase: 'deliberate', type: 'dialectic', task: 'Compare three backups' }],
];

it.each(parts)('%s works as the child of a workflow of the user', async (type, input) => {
  const run = await stage.client.workflow.start('ownWorkflow', {
    workflowId: `own-${type}`,
    taskQueue: ownQueue,
    args: [type, stage.taskQueue, { ...input, unattended: true }],
  });
  expect(await run.result()).toMatchObject({ answer: expect.any(String) });
});
