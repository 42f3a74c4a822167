/**
 * Checks an agent's output beyond its shape (seed 004 §5, §6).
 *
 * Invariants:
 *   O1. Blocked needs a blocking question, or a note that was escalated; completed allows none of them. Failed allows no
 *       blocking question, which would go to no one.
 *   O2. Each criterion of the delegation is in exactly one list, once, and no other id is.
 *   O3. A met criterion names evidence: not blank, not its own id, not a word or two. Faults that were found in the
 *       output's texts come with it.
 *   O4. Each unmet criterion has a reason, and a failed output has at least one unmet criterion.
 *   O5. The questions can be put to a person as they are.
 *   O6. All faults are reported at once, each with path, reason and "Try: …".
 *   O7. No key of its facts has two values.
 */
import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { TurnOutline } from '../../contracts/model-turn.ts';
import type { CompletionNote } from '../../contracts/note.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { checkNotes } from '../notes/session.ts';
import type { SessionState } from '../notes/session.ts';
import { checkStatedFacts } from '../pool/admit-facts.ts';
import { checkAskedQuestions } from '../questions/check-asked-questions.ts';
import { cutText, normaliseText } from '../text/cut-text.ts';
import { capFaults, listNames } from '../text/list-names.ts';
import { checkClaimedEffects } from './check-evidence.ts';
import type { KnownEffect } from './check-evidence.ts';

/** Shortest evidence, in characters. Shorter ones ("done", "see above") can't be looked up. */
const evidenceCharsMin = 10;

/**
 * Checks the output of an agent, or of a team's leader.
 *
 * @param effects Known attempts to change something outside.
 * @param session Its notes; null for an agent that keeps none. @returns none for another shape of reply.
 */
export function checkOutline(
  outline: TurnOutline,
  criterionIds: readonly string[],
  effects: readonly KnownEffect[],
  session: SessionState | null = null,
): readonly OutputFault[] {
  if (outline.shape !== 'agent_output') return [];
  const { output } = outline;
  return capFaults([
    ...(session === null ? [] : checkNotes(session, output)),
    ...checkClaimedEffects(output, effects),
    ...checkAgentOutput(output, criterionIds, session?.notes),
  ]);
}

/**
 * @param criterionIds Criteria of the delegation.
 * @param notes Those of its agent.
 * @returns every fault at once; empty when the output is valid.
 */
export function checkAgentOutput(
  output: AgentOutputOutline,
  criterionIds: readonly string[],
  notes: readonly Pick<CompletionNote, 'status'>[] = [],
): OutputFault[] {
  return capFaults([
    ...checkStatus(
      output,
      notes.some(({ status }) => status === 'escalated'),
    ),
    ...checkCoverage(output, criterionIds),
    ...checkEvidence(output),
    ...checkReasons(output),
    ...checkAskedQuestions(output.blocking_questions, 'blocking_questions'),
    ...checkAskedQuestions(output.optional_questions, 'optional_questions'),
    ...checkStatedFacts(output.facts),
    ...output.text_faults,
  ]);
}

/** Lists the faults of an output that failed and asks all the same. */
export function checkFailed({
  status,
  blocking_questions: { length: count },
}: Pick<AgentOutputOutline, 'status' | 'blocking_questions'>): OutputFault[] {
  if (status !== 'failed' || count === 0) return [];
  return [
    {
      path: 'blocking_questions',
      reason: `status is "failed" but there are ${count} blocking questions`,
      hint: 'Try: status "blocked"; or, where no answer would help, an empty list',
    },
  ];
}

function checkStatus(output: AgentOutputOutline, hasEscalated: boolean): OutputFault[] {
  const blocking = output.blocking_questions.length;
  if (output.status === 'blocked' && blocking === 0 && !hasEscalated) {
    return [
      {
        path: 'blocking_questions',
        reason: 'status is "blocked" but there is no blocking question',
        hint: 'Try: ask what stops you, or set status to "completed" or "failed"',
      },
    ];
  }
  if (output.status === 'completed' && blocking > 0) {
    return [
      {
        path: 'blocking_questions',
        reason: `status is "completed" but there are ${blocking} blocking questions`,
        hint: 'Try: status "blocked", or move the questions to optional_questions',
      },
    ];
  }
  if (output.status === 'failed' && output.coverage.criteria_unmet.length === 0) {
    return [
      {
        path: 'coverage.criteria_unmet',
        reason: 'status is "failed" but no criterion is unmet',
        hint: 'Try: list each criterion that is not met with the reason, or set status to "completed"',
      },
    ];
  }
  return [];
}

function checkCoverage(output: AgentOutputOutline, criterionIds: readonly string[]): OutputFault[] {
  const { criteria_met: met, criteria_unmet: unmet } = output.coverage;
  const listed = [
    ...met.map((c, i) => ({ id: c.criterion_id, path: `coverage.criteria_met[${i}]` })),
    ...unmet.map((c, i) => ({ id: c.criterion_id, path: `coverage.criteria_unmet[${i}]` })),
  ];
  const faults: OutputFault[] = [];
  const seen = new Map<string, string>();
  for (const { id, path } of listed) {
    const first = seen.get(id);
    if (!criterionIds.includes(id)) {
      faults.push({
        path: `${path}.criterion_id`,
        reason: `"${cutText(id, 60)}" is no criterion of this delegation`,
        hint: `Try: one of ${listNames(criterionIds)}`,
      });
    } else if (first !== undefined) {
      faults.push({
        path: `${path}.criterion_id`,
        reason: `"${id}" is listed already, at ${first}`,
        hint: 'Try: keep it in exactly one of the two lists, once',
      });
    }
    if (first === undefined) seen.set(id, path);
  }
  const missing = criterionIds.filter((id) => !seen.has(id));
  if (missing.length > 0) {
    faults.push({
      path: 'coverage',
      reason: `these criteria are in neither list: ${listNames(missing)}`,
      hint: 'Try: add each to criteria_met with evidence, or to criteria_unmet with a reason',
    });
  }
  return faults;
}

function checkEvidence(output: AgentOutputOutline): OutputFault[] {
  return output.coverage.criteria_met.flatMap(({ criterion_id, evidence }, i) => {
    const reason = findEvidenceFault(criterion_id, evidence);
    if (reason === null) return [];
    return [
      {
        path: `coverage.criteria_met[${i}].evidence`,
        reason,
        hint: 'Try: name the section, figure or source where it can be seen, or move it to criteria_unmet',
      },
    ];
  });
}

function findEvidenceFault(criterionId: string, evidence: string): string | null {
  const text = evidence.trim();
  if (text === '') return 'the evidence is blank';
  if (normaliseText(text) === normaliseText(criterionId)) {
    return 'the evidence only repeats the criterion_id';
  }
  return text.length < evidenceCharsMin
    ? `the evidence "${text}" is too short to be looked up (at least ${evidenceCharsMin} characters)`
    : null;
}

function checkReasons(output: AgentOutputOutline): OutputFault[] {
  return output.coverage.criteria_unmet.flatMap(({ reason }, i) =>
    reason.trim() === ''
      ? [
          {
            path: `coverage.criteria_unmet[${i}].reason`,
            reason: 'the reason is blank',
            hint: 'Try: what is missing, in one sentence',
          },
        ]
      : [],
  );
}
