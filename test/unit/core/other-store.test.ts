import {
  nameWorker,
  readStoreIdentity,
  readWorkerName,
  refuseOtherStore,
} from '../../../core/run/run-place.ts';

const kept = { id: 'ab12', place: '"/srv/a" on host-a' };

it('OS1: a store is known by its id, wherever it lies', () => {
  expect(refuseOtherStore(kept, { id: 'ab12', place: '"/mnt/a" on host-b' })).toBeNull();
  expect(refuseOtherStore(kept, { id: 'cd34', place: kept.place })).not.toBeNull();
  expect(refuseOtherStore(kept, { id: 'cd34', place: 'db', copied: ['ef56', 'ab12'] })).toBeNull();
});

it('OS2: a run that recorded no store accepts every one', () => {
  expect(refuseOtherStore(null, kept)).toBeNull();
  for (const value of [undefined, null, 'ab12', [], {}, { id: '', place: 'x' }, { id: 7 }]) {
    expect(readStoreIdentity(value)).toBeNull();
  }
  expect(readStoreIdentity({ ...kept, more: 1 })).toEqual(kept);
});

it('OS3: a refusal names both stores, both places and the cure', () => {
  const found = { id: 'cd34', place: '"/srv/b" on host-b' };
  expect(refuseOtherStore(kept, found)).toBe(
    'The run is kept in the store ab12 ("/srv/a" on host-a), and this worker has the store cd34 ("/srv/b" on host-b). ' +
      'Nothing was read or written; the run waits and goes on with a worker that has its store. ' +
      'Try: start the worker with that home (PLANWAVE_HOME), or let all workers of the task queue share one store',
  );
});

it('OS4: a run with working copies needs the home that has them, also beside a shared database', () => {
  const database = { id: 'db', place: 'postgresql://db/planwave' };
  const pinned = { ...database, home: kept };
  expect(readStoreIdentity({ ...pinned, home: { ...kept, more: 1 } })).toEqual(pinned);
  const beside = (id: string) => ({ ...database, home: { id, place: '"/srv/b" on host-b' } });
  expect(refuseOtherStore(pinned, beside('ab12'))).toBeNull();
  expect(refuseOtherStore(database, beside('cd34'))).toBeNull();
  expect(refuseOtherStore(pinned, beside('cd34'))).toContain(
    'are in the home ab12 ("/srv/a" on host-a), and this worker has the home cd34 ("/srv/b" on host-b). Nothing was read',
  );
  // Copied into a home, which then has the copies as well.
  expect(refuseOtherStore(pinned, { ...kept, copied: ['db'] })).toBeNull();
});

it("reads a worker's store from its name", () => {
  expect(readWorkerName(nameWorker('47@host-a', kept))).toEqual({
    process: '47@host-a',
    store: 'ab12',
  });
  expect(readWorkerName('47@host-a')).toEqual({ process: '47@host-a', store: null });
});
