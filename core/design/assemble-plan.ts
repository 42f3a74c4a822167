/**
 * Joins the replies of a design into one plan.
 *
 * Invariants:
 *   AS1. Each task of the sequence becomes one task of the plan, in the same order, with an id of its own.
 *   AS2. A reference to a task becomes its id. One to a task that the sequence lacks becomes an id that no task has, so
 *        that the checks of the plan find it.
 *   AS3. What a part says of a task that the sequence lacks is reported, never lost in silence.
 *   AS4. No two tasks have the same evidence_id.
 *   AS5. A criterion of the user that is evidence of no task is reported.
 */
import type {
  CoordinationPlan,
  EvidenceRequirement,
  PlanFinding,
  PlanTask,
  PlanOperation,
} from '../../contracts/coordination-plan.ts';
import type {
  ConversationSummary,
  DesignBrief,
  DesignCheckpoints,
  DesignFiles,
  DesignInstructions,
  DesignRoster,
  DesignSequence,
  BestPractices,
  PocIntegration,
  PocRecommendation,
} from '../../contracts/design.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { nameAttempts } from './next-wave.ts';

/** Replies of a design's stages. */
export interface DesignParts {
  readonly goal: string;
  readonly summary: ConversationSummary;
  readonly brief: DesignBrief;
  readonly roster: DesignRoster;
  readonly sequence: DesignSequence;
  readonly files: DesignFiles;
  readonly checkpoints: DesignCheckpoints;
  readonly instructions: DesignInstructions;
  /** Unix epoch seconds, ten digits. The tasks' ids count on from it. */
  readonly created_at: number;
}

/** Equal to the contract's limits. */
const summaryCharsMax = 2_000;
const slugCharsMax = 40;

/** @returns a plan with the right types. Gaps between the parts stay in it, for its checks to find. */
export function assemblePlan(parts: DesignParts): CoordinationPlan {
  const { goal, summary, brief, roster, sequence, checkpoints } = parts;
  return {
    version: 1,
    task_name: summary.task_name,
    goal,
    summary: describeAim(summary, brief),
    max_parallel: sequence.max_parallel,
    agents: roster.agents,
    new_agents: roster.new_agents,
    tasks: renameEvidence(assembleTasks(parts)),
    risks: [],
    escalation: checkpoints.escalation,
  };
}

function describeAim({ accomplish }: ConversationSummary, brief: DesignBrief): string {
  return cutText(
    [
      accomplish,
      list('Deliverables', brief.deliverables),
      list('Success criteria', brief.success_criteria),
    ].join('\n\n'),
    summaryCharsMax,
  );
}

function list(title: string, entries: readonly string[]): string {
  return `${title}:\n${entries.map((one) => `- ${one}`).join('\n')}`;
}

function assembleTasks(parts: DesignParts): PlanTask[] {
  const { sequence, files, checkpoints, instructions, roster, created_at } = parts;
  const ids = new Map<string, string>();
  for (const [at, { task }] of sequence.tasks.entries()) {
    if (!ids.has(task)) ids.set(task, `${task}_${created_at + at}`);
  }
  const idOf = (task: string): string => ids.get(task) ?? `${task}_${created_at}`;
  const verifier = roster.agents.find(({ role }) => role === 'verifier')?.agent_name ?? 'verifier';
  return sequence.tasks.map(({ task, title, agent, purpose, depends_on }, at) => {
    const isTask = (one: { readonly task: string }): boolean => one.task === task;
    const { inputs = [], outputs = [] } = files.tasks.find(isTask) ?? {};
    const { verified_by = verifier, evidence = [] } = checkpoints.tasks.find(isTask) ?? {};
    return {
      task_id: `${task}_${created_at + at}`,
      title,
      agent,
      instructions: instructions.tasks.find(isTask)?.instructions ?? purpose,
      inputs: inputs.map((one) => ({ ...one, from: one.from === null ? null : idOf(one.from) })),
      outputs,
      depends_on: depends_on.map(idOf),
      validation: { verified_by, evidence },
      proof_of_concept: null,
    };
  });
}

/** Numbers an evidence_id that an earlier task has already: evidence of several tasks must stay apart in one run. */
function renameEvidence(tasks: readonly PlanTask[]): PlanTask[] {
  const taken = new Set<string>();
  const rename = (one: EvidenceRequirement): EvidenceRequirement => {
    const evidence_id = findFreeName(one.evidence_id, taken);
    taken.add(evidence_id);
    return { ...one, evidence_id };
  };
  return tasks.map((task) => ({
    ...task,
    validation: { ...task.validation, evidence: task.validation.evidence.map(rename) },
  }));
}

/** Returns the name, or with a number at its end the first one that is free. */
function findFreeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number += 1) {
    const end = `-${number}`;
    const numbered = `${name.slice(0, slugCharsMax - end.length)}${end}`;
    if (!taken.has(numbered)) return numbered;
  }
}

/**
 * Finds what does not fit together in the replies themselves, before a plan is assembled from them.
 *
 * @param goals criterion_ids of the user's own criteria that are open.
 */
export function checkDesignParts(
  {
    sequence,
    files,
    checkpoints,
    instructions,
  }: Pick<DesignParts, 'sequence' | 'files' | 'checkpoints' | 'instructions'>,
  goals: readonly string[] = [],
): PlanFinding[] {
  const known = sequence.tasks.map(({ task }) => task);
  const twice = known.flatMap((task, at) =>
    known.indexOf(task) === at
      ? []
      : [
          {
            rule: 'AS1',
            path: `sequence/tasks/${at}/task`,
            message: `two tasks are called "${task}"`,
            cure: 'Give one of them another name',
          },
        ],
  );
  const unknown = Object.entries({ files, checkpoints, instructions }).flatMap(
    ([part, { tasks }]) =>
      tasks.flatMap(({ task }, at) =>
        known.includes(task)
          ? []
          : [
              {
                rule: 'AS3',
                path: `${part}/tasks/${at}/task`,
                message: `the sequence has no task "${task}"`,
                cure: `Name one of ${listNames(known)}, or leave the entry out`,
              },
            ],
      ),
  );
  return [...twice, ...unknown, ...findUnseenGoals(checkpoints, goals)];
}

function findUnseenGoals({ tasks }: DesignCheckpoints, goals: readonly string[]): PlanFinding[] {
  const seen = new Set(
    tasks.flatMap(({ evidence }) => evidence.map(({ evidence_id }) => evidence_id)),
  );
  return goals
    .filter((id) => !seen.has(id))
    .map((id) => ({
      rule: 'AS5',
      path: 'checkpoints/tasks',
      message: `the user's criterion "${id}" is evidence of no task`,
      cure: `Add it to the evidence of the task that meets it, with the evidence_id "${id}"`,
    }));
}

/**
 * Turns replies of the risk assessment into operations on the plan.
 *
 * Invariants:
 *   OR1. A proof of concept gets a task_id that neither the plan and its siblings nor later attempts at their tasks have.
 *   OR2. It comes before every task that relies on its assumption, whether the recommendation or the integration names it.
 *   OR3. Practices of any length reach their task, in as many parts as an operation's text requires.
 */

type Proof = PocRecommendation['proofs_of_concept'][number];

/** @param created_at Unix epoch seconds, ten digits: the ids of the new tasks count on from it. */
export function operationsOfProofs(
  plan: CoordinationPlan,
  { risks, proofs_of_concept }: PocRecommendation,
  { positions }: PocIntegration,
  created_at: number,
): PlanOperation[] {
  const known = new Set(plan.risks.map(({ risk_id }) => risk_id));
  const ids = new Set(plan.tasks.map(({ task_id }) => nameAttempts(task_id)));
  const evidence = new Set(
    plan.tasks.flatMap((task) => task.validation.evidence.map(({ evidence_id }) => evidence_id)),
  );
  const proofs = proofs_of_concept.map((proof, at): PlanOperation => {
    const position = positions.find(({ task }) => task === proof.task);
    const task_id = findFreeId(proof.task, created_at + at, ids);
    ids.add(nameAttempts(task_id));
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

/** @param taken What the attempts at the other tasks are called. */
function findFreeId(slug: string, epoch: number, taken: ReadonlySet<string>): string {
  for (let at = epoch; ; at += 1) {
    const id = `${slug}_${at}`;
    if (!taken.has(nameAttempts(id))) return id;
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
