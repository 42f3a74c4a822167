import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Message } from '../../contracts/transcript.ts';
import {
  BestPractices,
  DoerConsultation,
  PocIntegration,
  PocRecommendation,
  StatedResearch,
  TechnologyResearch,
} from '../../contracts/design.ts';
import { readOpenedSources } from '../artifacts/read-reports.ts';
import { webResearchName } from '../tools/registry/web-tools.ts';
import { defineDesignStage } from './define-design-stage.ts';

/** Practices and failure patterns of one technology (seed 003, "Technology Best Practices Research Agent"). */
export const researchStage = defineDesignStage({
  stage: 'research',
  schema: TechnologyResearch,
  offered: StatedResearch,
  plan: 'outline',
  tools: 'research',
  complete: groundSources,
  rules: `# The research
- technology is <subject>. practices: what prevents failures in work like this plan's. failure_patterns: what is known to go wrong, and how one notices. Later plans read it too: name kinds of work, and nothing that only this plan has.
- If you have the tool ${webResearchName}, ask it first for what you do not know or what may have changed: at most 3 questions, each about the technology and nothing of this plan.
- sources: a title and, for a page that ${webResearchName} returned in this conversation, its url as it stands in source_refs. Otherwise url is null: background knowledge.

Example: {"technology":"PostgreSQL 16","practices":["Make e-mails unique by an index on lower(email)"],"failure_patterns":["A unique constraint on the plain column lets A@x and a@x become two accounts"],"sources":[{"title":"Background knowledge, not looked up","url":null}]}`,
  request: ({ subject }) =>
    `Collect what is known about ${JSON.stringify(subject ?? '')} for this plan.`,
});

/** Adds to each page what the web said of it. A page that was not opened here is no source. */
function groundSources(
  research: TechnologyResearch,
  messages: readonly Message[],
): { readonly value: TechnologyResearch; readonly faults: readonly OutputFault[] } {
  const opened = new Map(readOpenedSources(messages).map((source) => [source.url, source]));
  const faults = research.sources.flatMap(({ url }, at): OutputFault[] =>
    url === null || opened.has(url) ? [] : [notOpened(at)],
  );
  const sources = research.sources.map(({ title, url }) => {
    const { quotation = '', retrieved_at = '' } = opened.get(url ?? '') ?? {};
    return {
      title,
      url,
      ...(quotation !== '' && { quotation }),
      ...(retrieved_at !== '' && { retrieved_at }),
    };
  });
  return { value: { ...research, sources }, faults };
}

const notOpened = (at: number): OutputFault => ({
  path: `sources/${at}/url`,
  reason: `no ${webResearchName} of this conversation returned this page`,
  hint: 'Try: null, and a title that says "background knowledge"; or an address from source_refs',
});

/** Risks that a doer sees in its own tasks (seed 003, "Doer Agent Consultation"). */
export const consultationStage = defineDesignStage({
  stage: 'consultation',
  schema: DoerConsultation,
  plan: 'whole',
  tools: 'reading',
  rules: `# The consultation
- <subject> is your agent_name in this plan. Read your own tasks as if you began tomorrow: which statement do they rely on that may be wrong?
- With tools that read the workspace, look first: what a file shows to be true is no risk, and what it shows to be wrong is one of likelihood "high", whose reason names the path.
- likelihood: how likely it is wrong. impact: how much is lost then. task_ids: the tasks that rely on it, yours and others'.
- None is a good answer. You do no work now: the form of result that your role describes is for later.

Example: {"risks":[{"assumption":"Existing customers' e-mails are unique without regard to case","likelihood":"medium","impact":"high","reason":"The old shop never checked it, and the migration fails on the first pair","task_ids":["create_user_table_1727539200"]}]}`,
  request: ({ subject }) =>
    `Name the risks that ${JSON.stringify(subject ?? '')} sees in its tasks.`,
});

/** Experiments that the risks deserve (seed 003, "PoC Recommendation Agent"). */
export const pocRecommendationStage = defineDesignStage({
  stage: 'poc_recommendation',
  schema: PocRecommendation,
  plan: 'outline',
  showsAgents: true,
  rules: `# The recommendation
- risks: those of research and consultation that matter for this plan, each once, with what is done about it in mitigation.
- proofs_of_concept: for those that are likely and costly, the smallest experiment that shows whether the assumption holds. task is a short name that no task has; agent and verified_by are agent_names of the roster, not the same. success_criteria and failure_criteria are seen, not felt. dependents: the task_ids that rely on it. outputs are below "agents/<agent_name>/task_output/".
- An experiment is a task: its agent can do what the tools of its agent_id in <agents> do, and nothing else. What none can run is a risk with a mitigation, and no experiment. No experiment for what an instruction prevents. None is a good answer.

Example: {"risks":[{"risk_id":"email-case","assumption":"Existing e-mails are unique without regard to case","likelihood":"medium","impact":"high","mitigation":"Counted before the migration is written"}],"proofs_of_concept":[{"risk_id":"email-case","task":"count_duplicates","title":"Count duplicate e-mails","agent":"database_agent","verified_by":"verifier_agent","instructions":"## Objective\\nCount the pairs of e-mails in customers.csv that differ only in case, and give the query.","success_criteria":["The count is 0"],"failure_criteria":["The count is above 0"],"outputs":[{"path":"agents/database_agent/task_output/duplicates.md","format":"Markdown: the count and the query"}],"evidence":[{"evidence_id":"duplicates-counted","description":"duplicates.md states the count and the query"}],"dependents":["create_user_table_1727539200"]}]}`,
  request: () => 'Decide which risks matter and which of them deserve an experiment.',
  outline: ({ proofs_of_concept }) => ({ proofs_of_concept: proofs_of_concept.length }),
});

/** Places of the experiments in the sequence (seed 003, "PoC Integration Agent"). */
export const pocIntegrationStage = defineDesignStage({
  stage: 'poc_integration',
  schema: PocIntegration,
  plan: 'outline',
  rules: `# The places
- Each proof of concept of the recommendation gets a position: depends_on, what must be done before it, usually nothing; before, the tasks that wait for it: those that rely on its assumption, and no others. No cycles.

Example: {"positions":[{"task":"count_duplicates","depends_on":[],"before":["create_user_table_1727539200"]}]}`,
  request: () => 'Place each proof of concept before the tasks that rely on it.',
});

/** Practices in the instructions (seed 003, "Best Practices Integration Agent"). */
export const bestPracticesStage = defineDesignStage({
  stage: 'best_practices',
  schema: BestPractices,
  plan: 'whole',
  rules: `# The practices
- For each task that a practice of the research helps, or the mitigation of a risk in <plan>: what to do, one sentence each. A task that none helps is left out. Nothing that its instructions already say, and nothing that contradicts them, its evidence or what the user decided.

Example: {"tasks":[{"task_id":"create_user_table_1727539200","practices":["Make e-mails unique by an index on lower(email), not by a constraint on the column."]}]}`,
  request: () =>
    'Bring the practices of the research, and the mitigations of the risks, to the tasks that they help.',
});
