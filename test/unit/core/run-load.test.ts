import {
  chooseLoad,
  describeLoad,
  placeActivity,
  readRunLoad,
  toPriority,
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
