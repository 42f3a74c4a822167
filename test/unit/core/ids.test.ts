import {
  delegationWorkflowId,
  factId,
  questionId,
  waveSource,
  waveWorkflowId,
} from '../../../core/ids.ts';

describe('ids', () => {
  it('ID1: ids read as paths', () => {
    const wave = waveWorkflowId('my-run', 1);
    expect(wave).toBe('my-run/wave-001');
    expect(delegationWorkflowId(wave, 'research')).toBe('my-run/wave-001/research');
  });

  it('ID2: different waves, questions and facts have different ids', () => {
    const waves = Array.from({ length: 2_000 }, (_, i) => waveWorkflowId('r', i + 1));
    expect(new Set(waves).size).toBe(2_000);
    expect([1, 2, 10].map(questionId)).toEqual(['q1', 'q2', 'q10']);
    expect([1, 2, 10].map(factId)).toEqual(['f1', 'f2', 'f10']);
    expect(waveSource(1, 'a')).not.toBe(waveSource(2, 'a'));
  });
});
