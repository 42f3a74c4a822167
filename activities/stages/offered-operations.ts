import { z } from 'zod';
import {
  EvidenceRequirement,
  PlanOperation,
  PlanTask,
  Validation,
} from '../../contracts/coordination-plan.ts';
import { DesignChange } from '../../contracts/design.ts';

/** Checks by code are for people's plan files: their schema holds open objects, which no provider takes. */
const OfferedEvidence = EvidenceRequirement.omit({ check: true });
const OfferedValidation = Validation.extend({ evidence: z.array(OfferedEvidence).max(20) });
const OfferedTask = PlanTask.extend({ validation: OfferedValidation });

type Operation = (typeof PlanOperation.options)[number];

/**
 * Returns the schema of a change with some of the operations. The provider makes a grammar of the schema and refuses a
 * large one. A reply with any operation is understood.
 *
 * @param isOffered Tells for the name of an operation whether it is offered.
 * @throws Error when none is.
 */
export function offerOperations(isOffered: (operation: string) => boolean): z.ZodType {
  const [first, ...others] = PlanOperation.options
    .filter(({ shape }) => isOffered(shape.operation.value))
    .map(withoutChecks);
  if (first === undefined) throw new Error('No operation is offered.');
  return DesignChange.extend({
    operations: z.array(z.discriminatedUnion('operation', [first, ...others])).max(60),
  });
}

function withoutChecks(option: Operation) {
  const { shape } = option;
  return z.strictObject({
    ...shape,
    ...('task' in shape && { task: OfferedTask }),
    ...('validation' in shape && { validation: OfferedValidation }),
  });
}
