import type { EvaluationActivities } from '../../contracts/evaluation.ts';
import { guardActivity } from '../attempt/failures.ts';
import { withHeartbeat } from '../attempt/heartbeat.ts';
import { gradeCell } from './grade-cell.ts';
import type { GradeCellDeps } from './grade-cell.ts';
import { keepCell } from './kept-cells.ts';
import { openEvaluation } from './open-evaluation.ts';
import type { OpenEvaluationDeps } from './open-evaluation.ts';

export type EvaluationDeps = OpenEvaluationDeps & GradeCellDeps;

/** Creates the activities of an evaluation. Each can be repeated. */
export function createEvaluationActivities(deps: EvaluationDeps): EvaluationActivities {
  return {
    openEvaluation: ({ input }) =>
      guardActivity(() => withHeartbeat(() => openEvaluation(deps, input))),
    gradeCell: (input) => guardActivity(() => withHeartbeat(() => gradeCell(deps, input))),
    keepCell: (input) => guardActivity(() => withHeartbeat(() => keepCell(deps, input))),
  };
}
