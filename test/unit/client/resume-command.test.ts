import type { StatusView } from '../../../contracts/views.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';
import { listing, status } from './support/samples.ts';

type Reading = Awaited<ReturnType<PlanwaveClient['status']>>;

async function resume(reading: Reading) {
  const sent: string[] = [];
  const io = createFakeIo();
  const deps = createFakeDeps(io, {
    status: () => Promise.resolve(reading),
    resume: (run, message = {}) => {
      sent.push(run);
      return Promise.resolve(message);
    },
  });
  const code = await runCli(['resume', 'run-1'], deps);
  return { code, out: io.out(), err: io.err(), sent };
}

const live = (fields: Partial<StatusView>): Reading => ({ live: true, view: status(fields) });

it('planwave resume of a run that is stopping says so, and sends nothing', async () => {
  expect(await resume(live({ stop_reason: 'enough' }))).toEqual({
    code: 5,
    out: '',
    err:
      'Run run-1 is stopping and ends with what there is. There is nothing to resume, so nothing was sent. ' +
      'Try: npm run planwave -- watch run-1\n',
    sent: [],
  });
});

const away = { live: false, note: 'No worker.', stuck: [], last_known: listing() } as const;
const parked = { phase: 'parked', parked_reason: 'the disk is full' } as const;

it.each([
  ['paused', live({ phase: 'paused', paused_reason: '' }), 'The run goes on.'],
  ['parked', live(parked), 'The run goes on.'],
  ['stopping and parked', live({ ...parked, stop_reason: '' }), 'The run ends with what there is.'],
  [
    'stopping and paused',
    live({ paused_reason: '', stop_reason: '' }),
    'The run ends with what there is.',
  ],
  ['ending', live({ phase: 'ending' }), 'The run ends with what there is.'],
  ['without a worker', away, 'The run goes on, unless it is stopping.'],
])('planwave resume of a run that is %s says what becomes of it', async (_how, reading, effect) => {
  expect(await resume(reading)).toEqual({
    code: 0,
    out: `resume was sent to run-1. ${effect} See: npm run planwave -- watch run-1\n`,
    err: '',
    sent: ['run-1'],
  });
});
