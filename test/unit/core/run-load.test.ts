import {
  addModelQueue,
  chooseLoad,
  describeLoad,
  placeActivity,
  readRunLoad,
  toPriority,
  nameWorker,
  readStoreIdentity,
  readWorkerName,
  recordStore,
  refuseOtherStore,
} from '../../../core/run/run-place.ts';

it('PQ1: reads what is in range, and nothing else', () => {
  const load = { priority: 1, tenant: 'acme', model_queue: 'planwave-model-1' };
  expect(readRunLoad({ ...load, more: 1 })).toEqual(load);
  for (const value of [undefined, null, 'acme', [], {}, { priority: 0, tenant: '' }]) {
    expect(readRunLoad(value)).toBeNull();
  }
  for (const priority of [0, 6, 1.5, '1', Number.NaN]) {
    expect(readRunLoad({ priority, tenant: 'acme' })).toEqual({ tenant: 'acme' });
  }
  for (const tenant of ['two words', 'x'.repeat(65), 7, 'a\n']) {
    expect(readRunLoad({ priority: 5, tenant })).toEqual({ priority: 5 });
  }
});

it('PQ2: the input wins over the start command, each field on its own', () => {
  const started = { priority: 4, tenant: 'start' };
  expect([chooseLoad({}), chooseLoad({}, {})]).toEqual([{}, {}]);
  expect(chooseLoad({}, started)).toEqual({ load: { priority: 4, tenant: 'start' } });
  expect(chooseLoad({ priority: 1 }, started)).toEqual({ load: { priority: 1, tenant: 'start' } });
  expect(chooseLoad({ tenant: 'input' }, started)).toEqual({
    load: { priority: 4, tenant: 'input' },
  });
  expect(chooseLoad({}, {}, 'q')).toEqual({ load: { model_queue: 'q' } });
});

it('PQ3: only model calls leave the task queue of the run', () => {
  const load = { priority: 2, tenant: 'acme', model_queue: 'q' };
  const priority = { priorityKey: 2, fairnessKey: 'acme' };
  expect(placeActivity('modelTurn', load)).toEqual({ priority, taskQueue: 'q' });
  expect(placeActivity('runTool', load)).toEqual({ priority });
  expect(placeActivity('modelTurn', { tenant: 'acme' })).toEqual({
    priority: { fairnessKey: 'acme' },
  });
  expect(placeActivity('modelTurn', null)).toEqual({});
  expect(toPriority({ model_queue: 'q' })).toEqual({});
  expect(describeLoad(load)).toBe('priority 2 · tenant acme');
  expect(describeLoad(null)).toBe('');
});

it('PQ3: a workflow that opens no run learns the queue of its model calls, and keeps its place', () => {
  const place = { priority: 2, tenant: 'acme' };
  const opened = { type: 'open', load: { model_queue: 'q', tenant: 'other' } };
  expect(addModelQueue(place, opened)).toEqual({ ...place, model_queue: 'q' });
  expect(addModelQueue(null, opened)).toEqual({ model_queue: 'q' });
  for (const value of [undefined, null, 'q', {}, { type: 'refused', reason: '' }]) {
    expect(addModelQueue(place, value)).toEqual(place);
    expect(addModelQueue(null, value)).toBeNull();
  }
});

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
      'Nothing was read or written; the run waits for a worker that has its store. ' +
      'Try: start the worker with that home (PLANWAVE_HOME), or let all workers of the task queue share one store',
  );
});

it('OS4: a run with working copies needs the home that has them, also beside a shared database', () => {
  const database = { id: 'db', place: 'postgresql://db/planwave' };
  const pinned = { ...database, home: kept };
  expect(readStoreIdentity({ ...pinned, home: { ...kept, more: 1 } })).toEqual(pinned);
  const found = { ...pinned, copied: ['ef56'] };
  expect([recordStore(found, true), recordStore(found, false)]).toEqual([pinned, database]);
  expect(recordStore(kept, true)).toEqual({ ...kept, home: kept });
  const beside = (id: string) => ({ ...database, home: { id, place: '"/srv/b" on host-b' } });
  expect(refuseOtherStore(pinned, beside('ab12'))).toBeNull();
  expect(refuseOtherStore(database, beside('cd34'))).toBeNull();
  expect(refuseOtherStore(pinned, beside('cd34'))).toContain(
    'are in the home ab12 ("/srv/a" on host-a), and this worker has the home cd34 ("/srv/b" on host-b). Nothing was read',
  );
  // The store of the run was a home, which was copied into the database.
  const moved = (id: string) => ({ ...beside(id), copied: [kept.id] });
  const own = { ...kept, home: kept };
  expect(refuseOtherStore(own, kept)).toBeNull();
  expect(refuseOtherStore(own, moved('ab12'))).toBeNull();
  expect(refuseOtherStore(own, moved('cd34'))).toContain('are in the home ab12');
  // A run without a folder of the user's needs no home.
  expect(refuseOtherStore(kept, moved('cd34'))).toBeNull();
  // The home, or the database beside it, was copied into another one.
  expect(refuseOtherStore(own, { id: 'cd34', place: 'x', copied: ['ab12'] })).toBeNull();
  expect(refuseOtherStore(pinned, { id: 'cd34', place: 'x', copied: ['db', 'ab12'] })).toBeNull();
  expect(refuseOtherStore(pinned, { id: 'cd34', place: 'x', copied: ['db'] })).not.toBeNull();
  const grown = { ...beside('cd34').home, copied: ['ab12'] };
  expect(refuseOtherStore(pinned, { ...database, home: grown })).toBeNull();
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
