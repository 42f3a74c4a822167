/**
 * Turns replies of the risk assessment into operations on the plan.
 *
 * Invariants:
 *   OR1. A proof of concept gets a task_id that the plan and its siblings don't have.
 *   OR2. It comes before every task that relies on its assumption, whether the recommendation or the integration names it.
 *   OR3. Practices of any length reach their task, in as many parts as an operation's text requires.
 */
import type {
  CoordinationPlan,
  PlanOperation,
  PlanTask,
} from '../../contracts/coordination-plan.ts';
import type { BestPractices, PocIntegration, PocRecommendation } from '../../contracts/design.ts';
import { findFreeName } from './assemble-plan.ts';

type Proof = PocRecommendation['proofs_of_concept'][number];

/** @param created_at Unix epoch seconds, ten digits: the ids of the new tasks count on from it. */
export function operationsOfProofs(
  plan: CoordinationPlan,
  { risks, proofs_of_concept }: PocRecommendation,
  { positions }: PocIntegration,
  created_at: number,
): PlanOperation[] {
  const known = new Set(plan.risks.map(({ risk_id }) => risk_id));
  const ids = new Set(plan.tasks.map(({ task_id }) => task_id));
  const evidence = new Set(
    plan.tasks.flatMap((task) => task.validation.evidence.map(({ evidence_id }) => evidence_id)),
  );
  const proofs = proofs_of_concept.map((proof, at): PlanOperation => {
    const position = positions.find(({ task }) => task === proof.task);
    const task_id = findFreeId(proof.task, created_at + at, ids);
    ids.add(task_id);
    return {
      operation: 'insert_proof_of_concept',
      task: toTask(proof, { task_id, depends_on: position?.depends_on ?? [], evidence }),
      before: [...new Set([...(position?.before ?? []), ...proof.dependents])],
    };
  });
  const added = risks
    .filter(({ risk_id }) => !known.has(risk_id))
    .map((risk): PlanOperation => ({ operation: 'add_risk', risk }));
  return [...added, ...proofs];
}

function findFreeId(slug: string, epoch: number, taken: ReadonlySet<string>): string {
  for (let at = epoch; ; at += 1) {
    if (!taken.has(`${slug}_${at}`)) return `${slug}_${at}`;
  }
}

function toTask(
  proof: Proof,
  place: {
    readonly task_id: string;
    readonly depends_on: readonly string[];
    /** Ids that are in use; those of the proof are added. */
    readonly evidence: Set<string>;
  },
): PlanTask {
  const { title, agent, instructions, outputs, verified_by } = proof;
  const { risk_id, success_criteria, failure_criteria } = proof;
  const evidence = proof.evidence.map((one) => {
    const evidence_id = findFreeName(one.evidence_id, place.evidence);
    place.evidence.add(evidence_id);
    return { ...one, evidence_id };
  });
  return {
    task_id: place.task_id,
    title,
    agent,
    instructions,
    inputs: [],
    outputs,
    depends_on: [...place.depends_on],
    validation: { verified_by, evidence },
    proof_of_concept: { risk_id, success_criteria, failure_criteria },
  };
}

/** Equal to the limit of an operation's text. */
const textCharsMax = 2_000;

export function operationsOfPractices({ tasks }: BestPractices): PlanOperation[] {
  return tasks.flatMap(({ task_id, practices }) =>
    packBullets(practices).map((text, at): PlanOperation => ({
      operation: 'append_instructions',
      task_id,
      heading: at === 0 ? 'Best practices' : `Best practices, part ${at + 1}`,
      text,
    })),
  );
}

/** Joins bullets into texts of at most `textCharsMax` characters. */
function packBullets(entries: readonly string[]): string[] {
  const texts: string[] = [];
  for (const entry of entries) {
    // A text of the greatest length has no room for the mark of a bullet.
    const bullet = entry.length + 2 <= textCharsMax ? `- ${entry}` : entry;
    const last = texts.at(-1);
    if (last !== undefined && last.length + 1 + bullet.length <= textCharsMax) {
      texts[texts.length - 1] = `${last}\n${bullet}`;
    } else {
      texts.push(bullet);
    }
  }
  return texts;
}
