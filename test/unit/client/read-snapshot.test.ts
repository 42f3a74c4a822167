import { createSnapshotReader, usageOf } from '../../../client/cli/follow/read-snapshot.ts';
import type { StatusView } from '../../../contracts/views.ts';
import { createFakeClient, notFound } from './support/fake-client.ts';
import { noUsage, status, wave } from './support/samples.ts';

const firstWaveId = 'run-1/wave-001';

it('a wave that is counted already is not counted for the next one, which nobody has told of yet', async () => {
  const spent = { ...noUsage, calls: 4 };
  const seen: StatusView[] = [
    status({ wave_workflow_id: firstWaveId }),
    status({ wave_workflow_id: 'run-1/wave-002', usage: spent }),
  ];
  let now = 0;
  const client = createFakeClient({
    status: async () => ({ live: true, view: seen[now] ?? status() }),
    waveView: async (id) => {
      if (id !== firstWaveId) throw notFound();
      return { live: true, view: wave({ usage: spent }) };
    },
  });
  const reader = createSnapshotReader(client, 'run-1');
  const used = async (): Promise<number | undefined> => {
    const snapshot = await reader.read();
    return snapshot.status === null ? undefined : usageOf(snapshot.status, snapshot.wave).calls;
  };

  expect(await used()).toBe(4);
  now = 1;
  expect(await used()).toBe(4);
});
