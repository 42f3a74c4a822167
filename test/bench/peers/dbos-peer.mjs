import { decisionJob } from '../bench-wave.ts';
import { servePeer } from './serve-peer.ts';

/** The wave in DBOS: a workflow that starts one for each delegation, each turn a step, and decides when all are back. */
await servePeer(async ({ load, databaseUrl, call }) => {
  const { DBOS } = load('@dbos-inc/dbos-sdk');

  const delegate = DBOS.registerWorkflow(
    async (key, job) => {
      const replies = [];
      while (replies.length < job.turns) {
        const name = `turn-${replies.length}`;
        // Each call sends what the one before it brought.
        // oxlint-disable-next-line no-await-in-loop
        replies.push(
          await DBOS.runStep(() => call(`${key}/${job.id}/${name}`, job, replies), { name }),
        );
      }
      return replies;
    },
    { name: 'delegation' },
  );

  const doWave = DBOS.registerWorkflow(
    async (key, wave) => {
      const handles = [];
      for (const { job } of wave.tasks) {
        // Children are started in an order that a recovery can repeat.
        // oxlint-disable-next-line no-await-in-loop
        handles.push(await DBOS.startWorkflow(delegate)(key, job));
      }
      const replies = await Promise.all(handles.map((handle) => handle.getResult()));
      const decide = () => call(`${key}/decision`, decisionJob(wave), []);
      return [...replies.flat(), await DBOS.runStep(decide, { name: 'decision' })];
    },
    { name: 'wave' },
  );

  DBOS.setConfig({ name: 'planwave-bench', systemDatabaseUrl: databaseUrl, logLevel: 'error' });
  await DBOS.launch();
  return {
    async wave(wave, key) {
      const handle = await DBOS.startWorkflow(doWave, { workflowID: key })(key, wave);
      return (await handle.getResult()).length;
    },
    close: () => DBOS.shutdown(),
  };
});
