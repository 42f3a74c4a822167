import {
  DesignCheckpoints,
  DesignFiles,
  DesignInstructions,
  DesignRoster,
  DesignSequence,
} from '../../contracts/design.ts';
import { defineDesignStage } from './define-design-stage.ts';

/** Choice of the agents (seed 003, "Agent Roster Designer"). */
export const rosterStage = defineDesignStage({
  stage: 'roster',
  schema: DesignRoster,
  showsAgents: true,
  rules: `# The roster
- agents lists everyone who works: role "doer" makes something, "verifier" checks what others made, "solution_architect" has the tasks that decide technology, architecture or security: a doer must not decide these. Each one has a task or verifies one. At least one doer and one verifier, who are not the same agent_name.
- agent_id is an agent of <agents> or of new_agents. Choose by description, capabilities and tools: an agent can do what its tools do, and nothing else. The text of one without "write_file" is its file.
- new_agents only where no agent of <agents> fits. prompt is the whole role: how it works, and what its result looks like. tools are names of <agent_tools>.

Example: {"agents":[{"agent_name":"database_agent","role":"doer","responsibility":"Designs and writes the tables and their migration","agent_id":"engineer"},{"agent_name":"api_agent","role":"doer","responsibility":"Writes the endpoints and their tests","agent_id":"engineer"},{"agent_name":"verifier_agent","role":"verifier","responsibility":"Checks tables, endpoints and tests against their evidence","agent_id":"reviewer"}],"new_agents":[]}`,
  request: () => 'Choose the agents of this work.',
});

/** Tasks and their order (seed 003, "Workflow Sequencing Agent"). */
export const sequencingStage = defineDesignStage({
  stage: 'sequencing',
  schema: DesignSequence,
  rules: `# The sequence
- A task is what one agent of the roster can do in one go, and another one can check. Verifiers have no tasks of their own: each task is verified as it ends. Every other agent of the roster has one; what decides technology, architecture or security goes to a solution_architect.
- depends_on lists the tasks whose results it needs. Tasks without a dependency between them run at the same time, at most max_parallel. No cycles.
- purpose says in a sentence or two what the task makes and what for.
- The last task makes what the user gets, or brings it together.

Example: {"tasks":[{"task":"create_user_table","title":"Tables for users","agent":"database_agent","purpose":"Tables and migration that the endpoints read and write","depends_on":[]},{"task":"sign_in_endpoints","title":"Endpoints for sign-in","agent":"api_agent","purpose":"Register, sign in, reset, with tests","depends_on":["create_user_table"]}],"max_parallel":2}`,
  request: () => 'Divide the work into tasks and give their order.',
});

/** Files between agents (seed 003, "File Structure Designer"). */
export const fileStructureStage = defineDesignStage({
  stage: 'file_structure',
  schema: DesignFiles,
  rules: `# The files
- Every task of the sequence has an entry. outputs: the files that it writes, below "agents/<agent_name>/task_output/", each with a format that its readers can rely on.
- inputs: the files that it reads. from is the task that writes it, with the same path and format as there, and one on which this task depends, directly or through others; null for a file that exists before the work starts.

Example: {"tasks":[{"task":"create_user_table","inputs":[],"outputs":[{"path":"agents/database_agent/task_output/schema.sql","format":"SQL for PostgreSQL 16, runs on an empty database"}]},{"task":"sign_in_endpoints","inputs":[{"path":"agents/database_agent/task_output/schema.sql","format":"SQL for PostgreSQL 16, runs on an empty database","from":"create_user_table"}],"outputs":[{"path":"agents/api_agent/task_output/endpoints.md","format":"Markdown: the code of each file with its path"}]}]}`,
  request: () => 'Design the files that each task reads and writes.',
});

/** Evidence and verifiers (seed 003, "Validation Checkpoint Designer"). */
export const checkpointsStage = defineDesignStage({
  stage: 'checkpoints',
  schema: DesignCheckpoints,
  rules: `# The checkpoints
- Every task of the sequence has an entry. verified_by is an agent_name with the role "verifier", never the task's own agent.
- evidence: one to five statements that can be seen to be true or not. evidence_id is a short name, unique in the plan. A defect that matters must make one of them false.
- escalation: what happens when a task is blocked, in order: who decides technical questions, what goes to the user.

Example: {"tasks":[{"task":"create_user_table","verified_by":"verifier_agent","evidence":[{"evidence_id":"user-table-unique","description":"schema.sql has a unique index on the e-mail without regard to case"}]}],"escalation":["Technical questions go to the solution architect","Requirements go to the user"]}`,
  request: () => 'Define for each task its evidence and its verifier.',
});

/** Texts for the agents (seed 003, "Instruction Writer Agent"). */
export const instructionsStage = defineDesignStage({
  stage: 'instructions',
  schema: DesignInstructions,
  rules: `# The instructions
- Every task of the sequence has an entry. The engine adds the rules of the agent's role, its inputs and outputs, its evidence, and how to escalate: write the task itself.
- In Markdown: ## Objective, ## Context (what of the interview this reader needs, in full), ## Steps, ## Out of scope.
- No placeholders, such as "TODO" or "as discussed"; nothing is left out. What technology, architecture or security is open, a doer must escalate: settle it here by what was decided.

Example: {"tasks":[{"task":"create_user_table","instructions":"## Objective\\nWrite the tables in which the shop keeps its users, with a migration that creates them.\\n\\n## Context\\nThe shop runs on PostgreSQL 16. E-mail is the login name and unique without regard to case.\\n\\n## Steps\\n1. Write the table with a unique index on lower(email).\\n2. Write the migration, which can run twice.\\n\\n## Out of scope\\nThe endpoints."}]}`,
  request: () => 'Write the instructions of each task.',
});
