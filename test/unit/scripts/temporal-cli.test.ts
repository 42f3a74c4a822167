import { withTaskTimeout } from '../../../scripts/temporal-cli.ts';

describe('finding L4: planwave temporal', () => {
  it.each([
    [['workflow', 'start', '--type', 'plannerRun']],
    [['workflow', 'execute', '--type', 'plannerRun']],
  ])('gives %j the same task timeout as planwave start', (args) => {
    expect(withTaskTimeout(args)).toEqual([...args, '--task-timeout=5s']);
  });

  it.each([
    [['workflow', 'start', '--task-timeout', '20s']],
    [['workflow', 'start', '--task-timeout=20s']],
    [['workflow', 'list']],
    [['operator', 'start']],
    [[]],
  ])('leaves %j as it is', (args) => {
    expect(withTaskTimeout(args)).toEqual(args);
  });
});
