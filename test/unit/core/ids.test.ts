import * as fc from 'fast-check';
import { Slug } from '../../../contracts/agent-definition.ts';
import { TaskId } from '../../../contracts/coordination-plan.ts';
import {
  cellRunId,
  decisionTaskId,
  delegationWorkflowId,
  disputeKey,
  factId,
  isCellOf,
  isDecisionTask,
  memberSource,
  phaseWorkflowId,
  questionId,
  namePath,
  readPlace,
  taskId,
  taskOwner,
  taskPlace,
  waveSource,
  waveWorkflowId,
} from '../../../core/ids.ts';
import { evaluationStamp } from '../../../core/evaluation/matrix.ts';
import { property } from './builders.ts';

const phases = [
  ['deliberate', 1],
  ['negotiate', 2],
  ['execute', 12],
] as const;

describe('ids', () => {
  it('ID1: ids read as paths', () => {
    const wave = waveWorkflowId('my-run', 1);
    expect(wave).toBe('my-run/wave-001');
    expect(delegationWorkflowId(wave, 'research')).toBe('my-run/wave-001/research');
    expect(phaseWorkflowId('my-triad', 'execute', 1)).toBe('my-triad/execute');
    expect(phaseWorkflowId('my-triad', 'execute', 2)).toBe('my-triad/execute-2');
  });

  it('ID2: different waves, questions and facts have different ids', () => {
    const waves = Array.from({ length: 2_000 }, (_, i) => waveWorkflowId('r', i + 1));
    expect(new Set(waves).size).toBe(2_000);
    expect([1, 2, 10].map(questionId)).toEqual(['q1', 'q2', 'q10']);
    expect([1, 2, 10].map(factId)).toEqual(['f1', 'f2', 'f10']);
    expect(waveSource(1, 'a')).not.toBe(waveSource(2, 'a'));
    expect(memberSource(1, 'a', 'critic')).toBe('wave-001/a/critic');
    expect(disputeKey('a', 'prices')).toBe('triad/a/prices');
  });

  it('ID2: cells of two evaluations with one id have different ids, which are slugs', () => {
    const evaluation = 'eval-name-of-sixteen-0123abcd';
    const stamps = Array.from({ length: 200 }, (_, i) =>
      evaluationStamp(`0199b3c2-0000-7000-8000-00000000${String(i).padStart(4, '0')}`),
    );
    expect(new Set(stamps).size).toBe(200);
    const ids = stamps.map((stamp) => cellRunId(evaluation, stamp, 400));
    for (const id of ids) {
      expect(Slug.safeParse(id).success).toBe(true);
      expect(isCellOf(evaluation, id)).toBe(true);
      expect(isCellOf('eval-name', id)).toBe(false);
    }
    expect(isCellOf(evaluation, `${evaluation}-copy`)).toBe(false);
  });

  it('ID2: tasks that decide questions have ids of their own, in the form of a task_id', () => {
    const ids = [decisionTaskId(1, 1, 'a_1727539200'), decisionTaskId(1, 2, 'a-2_1727539200')];
    expect(ids).toEqual(['decision_w1n1_1727539200', 'decision_w1n2_1727539200']);
    expect(ids.every((id) => TaskId.safeParse(id).success && isDecisionTask(id))).toBe(true);
    expect(isDecisionTask('decision_1727539200')).toBe(false);
  });

  it('ID3: what was built is read back, whatever the run is called', () => {
    const anyRun = fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.constantFrom('a/wave-001', 'a/wave-001/b', 'wave-001', '/', 'a/wave-x', 'a\nb'),
    );
    const anyDelegation = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,39}$/);
    fc.assert(
      fc.property(
        anyRun,
        fc.integer({ min: 1, max: 5_000 }),
        anyDelegation,
        (run, wave, delegation) => {
          const waveId = waveWorkflowId(run, wave);
          const id = delegationWorkflowId(waveId, delegation);
          for (const known of [true, false]) {
            const typeOf = (type: string): string | null => (known ? type : null);
            expect(readPlace(waveId, typeOf('plannerWave'))).toEqual({ run, wave });
            expect(readPlace(id, typeOf('delegation'))).toEqual({ run, wave, delegation });
            for (const [phase, attempt] of phases) {
              const phaseId = phaseWorkflowId(id, phase, attempt);
              expect(readPlace(phaseId, typeOf('triadPhase'))).toEqual({
                run,
                wave,
                delegation,
                phase,
              });
            }
          }
          expect(readPlace(id, 'plannerRun')).toEqual({ run: id });
        },
      ),
      property,
    );
  });

  it('ID3: the phase of a task is read back, however deep its team is', () => {
    const slug = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,39}$/);
    const anyRun = fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.constantFrom('a/wave-001', 'a/wave-001/b', 'wave-001', '/', 'a\nb'),
    );
    const names = fc.array(slug, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(anyRun, slug, names, slug, (run, delegation, path, alone) => {
        const task = path.join('.');
        const id = path.reduce(taskId, delegation);
        expect(id).toBe(`${delegation}.${task}`);
        expect(taskOwner(id)).toBe(delegation);
        const place = delegationWorkflowId(waveWorkflowId(run, 1), delegation);
        const above = taskPlace(place, namePath(id));
        for (const [phase, attempt] of phases) {
          for (const type of ['triadPhase', null]) {
            const phaseId = phaseWorkflowId(above, phase, attempt);
            expect(readPlace(phaseId, type)).toEqual({ run, wave: 1, delegation, task, phase });
          }
          const phaseId = phaseWorkflowId(taskPlace(alone, namePath(id)), phase, attempt);
          expect(readPlace(phaseId, 'triadPhase')).toEqual({ run: alone, task, phase });
          expect(readPlace(phaseId, null)).toEqual({ run: phaseId });
        }
      }),
      property,
    );
    expect(taskPlace('my-run/wave-001/design', 'd2.d1')).toBe('my-run/wave-001/design/d2.d1');
  });

  it('ID3: a phase of a triad that somebody started by hand belongs to that triad', () => {
    expect(readPlace('my-triad/negotiate-2', 'triadPhase')).toEqual({
      run: 'my-triad',
      phase: 'negotiate',
    });
  });

  it.each([
    ['my-phase', 'triadPhase'],
    ['my-triad/execute', 'triad'],
    ['my-triad/execute', null],
    ['my-run', 'plannerRun'],
    ['my-wave', 'plannerWave'],
    ['a/wave-001', 'delegation'],
    ['a/wave-001/b', 'plannerWave'],
    ['a/wave-1', 'plannerWave'],
    ['a/wave-001/b/c', null],
    ['', null],
  ])(
    'ID3: the id %j of a workflow of type %s that somebody started by hand is its run',
    (id, type) => {
      expect(readPlace(id, type)).toEqual({ run: id });
    },
  );
});
