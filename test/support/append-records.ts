/**
 * Started by tests as a process of its own: stores numbered texts and replies for ever, and prints the number of each that is
 * acknowledged.
 *
 * Arguments: the options of the store as JSON, a name that makes the texts its own, how many to store, 0 for no end, and the
 * name of a shared value that counts them; by default none does.
 */
import { changeShared } from '../../activities/load/change-shared.ts';
import { openStores } from '../../activities/adapters/open-stores.ts';

const [place = '', name = '', count = '0', counter = ''] = process.argv.slice(2);
const { store, ledger, shared } = openStores(JSON.parse(place));
const last = Number(count) || Infinity;

async function turn(number: number): Promise<void> {
  const key = { workflow_id: name, run_id: 'r', activity_id: String(number) };
  const batch = store.openBatch();
  const ref = await batch.put(`${name} ${number} ${'x'.repeat((number * 37) % 5_000)}`);
  await ledger.put(key, 1, { ref }, batch);
  if (counter !== '') {
    await changeShared(shared, counter, (value) => ({
      next: Number(value ?? 0) + 1,
      result: undefined,
    }));
  }
  process.stdout.write(`${number} ${ref}\n`);
}

/** Three conversations at once. */
const lanes = [0, 1, 2].map(async (lane) => {
  for (let number = lane; number < last; number += 3) await turn(number);
});
// A script in one file can't wait here; a rejection ends it all the same.
void Promise.all(lanes);
