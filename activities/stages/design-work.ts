import { z } from 'zod';
import {
  EvidenceRequirement,
  PlanOperation,
  PlanTask,
  Validation,
} from '../../contracts/coordination-plan.ts';
import { DesignChange, DesignReview } from '../../contracts/design.ts';
import { LoopAnalysis, ProofDecision, ProofReview } from '../../contracts/adaptation.ts';
import { keysOfReview } from '../../core/design/rate-change.ts';
import { defineDesignStage } from './define-design-stage.ts';

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
function offerOperations(isOffered: (operation: string) => boolean): z.ZodType {
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

/** Judgement of a proof of concept (seed 003, "PoC Evidence Reviewer Agent"). */
export const pocEvidenceStage = defineDesignStage({
  stage: 'poc_evidence',
  schema: ProofReview,
  plan: 'outline',
  rules: `# The judgement
The plan is being carried out. <subject> is the task_id of a proof of concept that is done; <work> has its result. Its success_criteria and failure_criteria are in <plan_tasks>.
- criteria: each success criterion (kind "success") and each failure criterion (kind "failure") of the task, word for word; first say of each what is seen, then assess. seen is true only for what the result shows; where quotes the passage, or says what is missing. What the author claims and does not show is not seen. What stands in criteria_met was seen by its verifier, who had the commands of the author with their exit codes: an output that <work> quotes from them counts as shown.
- assessment follows from seen: "pass" when all success criteria are seen and no failure criterion; "fail" when a failure criterion is seen, or no success criterion; otherwise "partial". Whether the work should go on is not asked here: another one decides that.

Example: {"criteria":[{"kind":"success","criterion":"The count is 0","seen":false,"where":"\\"3 pairs differ only in case\\""},{"kind":"failure","criterion":"The count is above 0","seen":true,"where":"\\"3 pairs differ only in case\\""}],"assessment":"fail","rationale":"Three pairs of e-mails differ only in case, so the assumption does not hold."}`,
  request: ({ subject }) => `Judge the evidence of ${JSON.stringify(subject ?? '')}.`,
  outline: ({ assessment, criteria }) => ({ assessment, judged: keysOfReview(criteria) }),
});

/** Consequence of a proof of concept (seed 003, "PoC Decision Agent"). */
export const pocDecisionStage = defineDesignStage({
  stage: 'poc_decision',
  schema: ProofDecision,
  plan: 'whole',
  rules: `# The decision
The plan is being carried out. <subject> is the task_id of a proof of concept; <materials> has the judgement of its evidence, <work> its result.
- "proceed": the work that relies on the assumption can go on as planned. Never after a failure.
- "adapt": the plan reaches the goal with a change: another approach, an additional step, an error that is handled. requirements say what must change, not how the plan is edited.
- "escalate": no change of the plan helps without a decision of the user on the goal, its limits or its cost.
- Evidence that is missing is a failure: "adapt" to another experiment, or "escalate". Where no judgement stands in <materials>, the experiment did not come to its end, or left evidence out: <work> says which.
- requirements: with "adapt" at least one, each a sentence that names the task_ids it is about; else empty.

Example: {"decision":"adapt","rationale":"Three pairs are few enough to be merged before the index is made.","requirements":["A task merges the e-mails that differ only in case, before create_user_table_1727539200","create_user_table_1727539200 makes the index on lower(email)"]}`,
  request: ({ subject }) => `Decide what follows from ${JSON.stringify(subject ?? '')}.`,
  outline: ({ decision }) => ({ decision }),
});

/** Root cause of questions that come again (seed 003, "Loop Detection"). */
export const loopAnalysisStage = defineDesignStage({
  stage: 'loop_analysis',
  schema: LoopAnalysis,
  plan: 'whole',
  rules: `# The analysis
The plan is being carried out. <subject> is the task_id of a task that asked the same at least three times, or that waited in a cycle. <escalations> has all that it asked so far in the order of asking, each in its own words with its answer; what has "refused" was put to nobody. A "cycle" there is a path of delegations of which each waits for the next: the root_cause then is "circular_dependency", and requirements break it. <answered_questions> has what others asked, <work> what came of the task.
- Read <escalations> as a history: what changes from wording to wording, and what the answers left out, shows what is missing.
- root_cause: "circular_dependency" when the task waits for what depends on it; "planning_gap" when no task makes what it needs; "unclear_requirements" when only the user can settle it.
- requirements: what must change in the plan so that the question does not come again; not how the plan is edited. It may be empty only where user_questions is not.
- user_questions: only with "unclear_requirements", and never the question that was answered already: ask for what is behind it. Where the answers are in <answered_questions> or <escalations>, take them into requirements and ask no more.

Example: {"root_cause":"planning_gap","explanation":"The task needs the list of countries, and no task writes it.","requirements":["A task before ship_rates_1727539203 writes the list of countries that are shipped to"],"user_questions":[]}
Example where only the user knows: {"root_cause":"unclear_requirements","explanation":"The answers name the currency; the task asks because rounding is not settled.","requirements":[],"user_questions":[{"text":"Are prices rounded to whole cents, or up to five cents?","why_it_matters":"Every total that ship_rates_1727539203 writes depends on it.","priority":"high","expected_answer_format":"choice","choices":["whole cents","five cents"],"default_answer":"whole cents"}]}`,
  request: ({ subject }) =>
    `Find out why ${JSON.stringify(subject ?? '')} gets no further: it asks again and again, or waits in a cycle.`,
  outline: ({ root_cause, user_questions }) => ({ root_cause, user_questions }),
});

/** Operations that a change during the work may need; agents and drafts belong to the design. */
const offered: readonly string[] = [
  'add_task',
  'remove_task',
  'reorder',
  'reassign',
  'change_instructions',
  'append_instructions',
  'change_files',
  'change_validation',
  'add_risk',
];

const OfferedAdaptation = offerOperations((operation) => offered.includes(operation));

/** Change of the plan during the work (seed 003, "Workflow Adaptation Agent"). */
export const adaptationStage = defineDesignStage({
  stage: 'adaptation',
  schema: DesignChange,
  offered: OfferedAdaptation,
  plan: 'whole',
  showsAgents: true,
  rules: `# The change
The plan is being carried out, and something has shown that it must change: <materials> has the requirements, <work> what was done, <subject> the task_id that it is about. You change the plan by operations, which are applied in order; all that you do not name stays.
- Change as little as meets the requirements.
- What is marked verified in <plan_tasks> is never changed or removed: add a task that builds on it.
- change_instructions replaces the whole text, so give all of it; append_instructions adds a section to it.
- A proof of concept that has failed must not hold up the work. One that is verified holds up nothing, and stays. Any other: remove it, or change what it tests. An agent that has no work left leaves the roster by itself.
- An experiment is added by add_task with its proof_of_concept, and by reorder of the tasks that wait for it. A task is split by add_task for its second part, change_instructions of the first, and reorder of its dependents.
- Evidence that you leave out or word anew is a promise that the user has to give up. Keep it as it is where you can, in another task if need be.
- conflicts of the <work>: an answer to a question of the task contradicts what others stated. holds says whether the value of the answer stands now; if not, another one does. tasks are those that stated or read another value: bring what is open of them, and <subject> itself, in line with the value that stands; for what is verified and wrong by it add a task. Where nothing is built on the difference, change nothing: operations is empty.
- Where there are <findings>, mend each. Where there is a <requested_change>, do what the user asks; once the plan has it, no operation takes it back.

Example: {"explanation":"The pairs are merged before the index is made.","operations":[{"operation":"change_instructions","task_id":"create_user_table_1727539200","instructions":"## Objective\\nMerge the e-mails that differ only in case, then make the table with a unique index on lower(email).\\n\\n## Context\\nThe shop runs on PostgreSQL 16. Three pairs differ only in case; the older account of a pair stays.\\n\\n## Steps\\n1. Merge each pair into the older account.\\n2. Write the table and its migration.\\n\\n## Out of scope\\nThe endpoints."}]}`,
  request({ findings, requested_change }) {
    if (findings.length > 0) {
      return 'The plan has your last change already: give only the operations that mend the findings. explanation says why the plan changes as a whole, because the user reads no other.';
    }
    if (requested_change !== null) return "Make the user's change, and what follows from it.";
    return 'Change the plan as the requirements say.';
  },
});

/** Operations that others express. */
const notOffered: readonly string[] = ['split_task', 'insert_proof_of_concept'];

const OfferedChange = offerOperations((operation) => !notOffered.includes(operation));

/** Changes of the workflow designer: after the parts came together, and after findings or a wish of the user. */
export const designChangeStage = defineDesignStage({
  stage: 'design_change',
  schema: DesignChange,
  offered: OfferedChange,
  plan: 'whole',
  showsAgents: true,
  rules: `# Changing the plan
Code has made one plan of the parts. You change it by operations, which are applied in order; all that you do not name stays.
- Where there are <findings>, each is answered: by an operation that follows its cure, or in explanation by the reason why it stays.
- Where there is a <requested_change>, the user asked for that change at the approval: do it, and what follows from it. Once the plan has it, no operation takes it back, whatever a finding says.
- In each case the parts have to fit: read the plan as a whole and mend what does not. When all fits, operations is empty.
- Places count from 0: "tasks/2" is the third task.
- change_instructions replaces the whole text; append_instructions adds a section. A removed task is removed from all depends_on; its files must not be needed any more.
- A registered agent of <agents> takes part by add_agent or change_agent. Only for what none of them can do: draft_agent with its whole file, tools among those of <agents>, and someone of the roster who works as it. A draft that nobody works as any more goes by remove_draft.

Example: {"explanation":"The endpoints need the password rules, so they wait for them.","operations":[{"operation":"reorder","task_id":"sign_in_endpoints_1727539201","depends_on":["create_user_table_1727539200","password_rules_1727539202"]}]}
Example of a new agent: {"explanation":"Texts for German users need somebody who translates.","operations":[{"operation":"draft_agent","draft":{"agent_id":"translator","description":"Translates texts of a product from English to German.","capabilities":["translation"],"tools":["load_detail"],"risk_level":"low","prompt":"You translate texts of a product. Keep placeholders such as {name} as they are, and name each sentence that you were not sure of."}},{"operation":"change_agent","agent":{"agent_name":"texts_agent","role":"doer","responsibility":"Texts in both languages.","agent_id":"translator"}}]}`,
  request({ findings, requested_change, change_made }) {
    if (change_made)
      return "Answer each finding. The plan has the user's change already: it stays.";
    if (requested_change !== null) return "Make the user's change, and what follows from it.";
    if (findings.length > 0) return 'Answer each finding.';
    return 'Bring the parts of the plan together.';
  },
});

/** Review of a finished plan (seed 003, "Design Verifier Agent"). */
export const designReviewStage = defineDesignStage({
  stage: 'design_review',
  schema: DesignReview,
  plan: 'whole',
  showsAgents: true,
  rules: `# The review
Code has checked the structure of the plan: ids, cycles, files, verifiers, missing parts. Judge what needs judgement.
- Could each agent do its task from its instructions and inputs alone, without a guess? Its rules of work, and how to escalate, are added by code.
- Is each failure mode of the brief in <materials>, and each risk of <plan>, met: by an instruction, by evidence that would show it, or by a proof of concept? A mitigation that no instruction has is none.
- Is each criterion of <goal_criteria> evidence of a task that can meet it: evidence_id is its criterion_id, and its description asks for all that the user's words ask for?
- Can the verifier see each piece of evidence? It reads files, changes, and the author's commands with their exit codes; it runs nothing, whatever its tools in <agents>.
- Where <materials> has a design_review, it is your last one. Its findings were answered since: in the plan, or in explanation of the design_change by the reason why one stays. Take a reason that holds.
- What <requested_change> asks for is decided by the user and no finding, also where it leaves something out; what does not follow it is one.
- Where there is <work>, the plan is being carried out, and the work on its task_id has changed it: <materials> says why (poc_decision, loop_analysis) and how (adaptation). Judge the change and what follows from it. What is verified stays as it is and is no finding; where it is wrong, the cure is a task that builds on it.
- escalation says what happens when a task is blocked. Does it lead each kind of question to one who may decide it: technology, architecture and security to a solution architect of the plan or, without one, to the user; requirements to the user?
- findings: only what must change before the plan may run. path is the place, as in "tasks/2/instructions" (the third task: places count from 0); message is what is wrong and what follows from it; cure is the change.
- remarks: what could be better and need not be.
- A plan without faults has no findings. Do not invent one.

Example: {"findings":[{"path":"tasks/1/validation/evidence/0","message":"The tests may pass although a second account with the same e-mail is possible: no evidence covers it","cure":"Add evidence that a second registration with the e-mail in capitals is refused"}],"remarks":["Two verifiers would shorten the work"]}`,
  request: () => 'Review the plan.',
  outline: ({ findings }) => ({
    findings: findings.map((finding) => ({ rule: 'verifier', ...finding })),
  }),
});
