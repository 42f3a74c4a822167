import { listUpstream } from '../../../core/workspace/run-changes.ts';
import { someRef } from '../../support/factories.ts';
import { taskRecord } from '../../support/team-fixtures.ts';
import { outputsOf } from '../../../workflows/team/do-task.ts';

it.each([
  ['completed', ['design.d1']],
  ['failed', []],
  ['timed_out', []],
  ['stopped', []],
] as const)('LF6: what a member builds on of a task that is %s', (status, expected) => {
  const record = taskRecord('d1', { status, output_ref: someRef });
  const records = new Map([[record.delegation_id, record]]);
  const outputs = outputsOf({ records, superior: { effects: () => [] }, effectsBefore: [] });
  expect(outputs).toMatchObject([{ output_ref: someRef }]);
  expect(listUpstream(outputs)).toEqual(expected);
});
