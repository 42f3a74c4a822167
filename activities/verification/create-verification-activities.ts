import type { VerificationActivities } from '../../contracts/verification.ts';
import { guardActivity } from '../attempt/failures.ts';
import { withHeartbeat } from '../attempt/heartbeat.ts';
import { whileCurrent } from '../attempt/while-current.ts';
import { describeFailures } from './describe-failures.ts';
import type { EvidenceDeps } from './check-evidence.ts';
import { gatherEvidence, keepWork } from './gather-evidence.ts';
import { recordVerification } from './record-verification.ts';
import type { RecordVerificationDeps } from './record-verification.ts';

/** Creates the activities of a verification. Each can be repeated. */
export function createVerificationActivities(
  deps: EvidenceDeps & RecordVerificationDeps,
): VerificationActivities {
  return {
    keepWork: (input) => guardActivity(() => withHeartbeat(() => keepWork(deps, input))),
    gatherEvidence: (input) =>
      guardActivity(() => withHeartbeat(() => gatherEvidence(deps, input))),
    recordVerification: (input) =>
      whileCurrent((assertCurrent) => recordVerification(deps, input, assertCurrent)),
    describeFailures: (input) =>
      guardActivity(() => withHeartbeat(() => describeFailures(deps.store, input))),
  };
}
