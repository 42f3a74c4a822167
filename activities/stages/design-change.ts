import { DesignChange, DesignReview } from '../../contracts/design.ts';
import { defineDesignStage } from './define-design-stage.ts';
import { offerOperations } from './offered-operations.ts';

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
- Where there is a <requested_change>, the user asked for that change at the approval: do it, and what follows from it.
- In each case the parts have to fit: read the plan as a whole and mend what does not. When all fits, operations is empty.
- Places count from 0: "tasks/2" is the third task.
- change_instructions replaces the whole text; append_instructions adds a section. A removed task is removed from all depends_on; its files must not be needed any more.
- A registered agent of <agents> takes part by add_agent or change_agent. Only for what none of them can do: draft_agent with its whole file, tools among those of <agents>, and someone of the roster who works as it. A draft that nobody works as any more goes by remove_draft.

Example: {"explanation":"The endpoints need the password rules, so they wait for them.","operations":[{"operation":"reorder","task_id":"sign_in_endpoints_1727539201","depends_on":["create_user_table_1727539200","password_rules_1727539202"]}]}
Example of a new agent: {"explanation":"Texts for German users need somebody who translates.","operations":[{"operation":"draft_agent","draft":{"agent_id":"translator","description":"Translates texts of a product from English to German.","capabilities":["translation"],"tools":["load_detail"],"risk_level":"low","prompt":"You translate texts of a product. Keep placeholders such as {name} as they are, and name each sentence that you were not sure of."}},{"operation":"change_agent","agent":{"agent_name":"texts_agent","role":"doer","responsibility":"Texts in both languages.","agent_id":"translator"}}]}`,
  request({ findings, requested_change }) {
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
- Is each failure mode of the brief in <materials> met: by an instruction, by evidence that would show it, or by a proof of concept?
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
