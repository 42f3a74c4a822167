import { delegationWorkflowId, questionId, waveWorkflowId } from '../../../core/ids.ts';

describe('ids', () => {
  it('ID1: ids read as paths', () => {
    const wave = waveWorkflowId('my-run', 1);
    expect(wave).toBe('my-run/wave-001');
    expect(delegationWorkflowId(wave, 'research')).toBe('my-run/wave-001/research');
  });

  it('ID2: different waves and questions have different ids', () => {
    const waves = Array.from({ length: 2_000 }, (_, i) => waveWorkflowId('r', i + 1));
    expect(new Set(waves).size).toBe(2_000);
    expect([1, 2, 10].map(questionId)).toEqual(['q1', 'q2', 'q10']);
  });
});
