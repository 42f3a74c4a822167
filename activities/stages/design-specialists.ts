import {
  ConversationSummary,
  DesignBrief,
  DesignCheckpoints,
  DesignFiles,
  DesignInstructions,
  DesignRoster,
  DesignSequence,
  DesignExplanation,
} from '../../contracts/design.ts';
import { defineDesignStage, type DesignStage } from './define-design-stage.ts';

const looking = `- With tools that read the workspace, look before you ask, at what bears on the goal: never ask or assume what a file shows. Name what you saw, with its path. Without them nobody has looked: say so where it matters.`;

const asking = `- Ask only what would change the design, all of it at once, each question understood without other context and with the answer you would take as default_answer. Never ask again what is answered.
- While you ask, give the rest as far as you know it. When nothing of that kind is open any more, user_questions is empty.`;

/** Interview of the user about the goal (seed 003, "Plan Development"). */
export const interviewStage = defineDesignStage({
  stage: 'interview',
  schema: ConversationSummary,
  tools: 'reading',
  rules: `# The interview
You ask the user what a design needs to know, and give the summary of what was said.
${looking}
${asking}
- Where the goal needs something run or reached outside the workspace, such as a server, data or an account, ask whether agents may, or whether people do it.
- accomplish is the goal in plain words: what will exist, for whom, and how one sees that it is good.
- decisions are choices that the user made or the goal settles, each with its reason and with what was rejected. Technology that is not settled is no decision.
- questions_resolved lists each question that was answered, with its answer.
- open_items are things that stay unclear and do not change the design.

Example for "Add user accounts to our shop's API", after one batch of answers:
{"task_name":"user_accounts","accomplish":"Customers of the shop can register, sign in and reset their password through the existing API. It is good when a new customer can order in one visit.","decisions":[{"decision":"E-mail is the login name and unique","rationale":"The shop already sends receipts to it","alternatives":"A user name: one more thing to forget"}],"constraints":["PostgreSQL 16 and Node 20 are given","Sign-in answers within 300 ms"],"questions_resolved":[{"question":"Should an e-mail be unique?","answer":"Yes, without regard to case"}],"open_items":["The wording of the e-mails"],"integration_points":["The orders table refers to customers by e-mail today"],"user_questions":[]}`,
  request: () => 'Find out what the design needs to know, and summarise it.',
  outline: ({ user_questions }) => ({ user_questions }),
});

/** First look of the workflow designer at the summary (seed 003, "Interactive Clarification"). */
export const briefStage = defineDesignStage({
  stage: 'brief',
  schema: DesignBrief,
  tools: 'reading',
  showsAgents: true,
  rules: `# The brief
You read the summary of the interview and say what the design has to achieve. Specialists work from it, and see no file: what they need to know of the workspace stands in it or in the summary.
${looking}
${asking}
- deliverables: what the user gets. hand_offs: what passes from one kind of work to the next, and how it is validated there. failure_modes: what can go wrong at each step.
- success_criteria are measurable: someone who sees the result can say yes or no. An agent of <agents> can do what its tools do, and nothing else: what none can run is no criterion, but a step for people.
- technologies: those whose practices and failure patterns are worth research, by name and version. None for work that needs none.

Example: {"deliverables":["A migration that creates the tables","Three endpoints with tests"],"hand_offs":["Table definitions pass from database work to API work; the API's tests run against them"],"failure_modes":["E-mails that differ in case become two accounts"],"success_criteria":["The test suite passes on an empty database","A second account with the same e-mail is refused"],"technologies":["PostgreSQL 16","argon2"],"user_questions":[]}`,
  request: () => 'Read the summary and write the brief for the specialists.',
  outline: ({ user_questions, technologies }) => ({ user_questions, technologies }),
});

/** Choice of the agents (seed 003, "Agent Roster Designer"). */
export const rosterStage = defineDesignStage({
  stage: 'roster',
  schema: DesignRoster,
  showsAgents: true,
  rules: `# The roster
- agents lists everyone who works: role "doer" makes something, "verifier" checks what others made, "solution_architect" decides technology, architecture or security, which a doer must not: by tasks of its own, and whenever a doer asks while it works. Each one has a task or verifies one; only a solution_architect may be there for questions alone. At least one doer and one verifier. A verifier has another agent_name and another agent_id than those whose work it verifies: no agent verifies its own work.
- agent_id is an agent of <agents> or of new_agents. Choose by description, capabilities and tools: an agent can do what its tools do, and nothing else. The text of one without "write_file" is its file, and no file of the workspace: who changes those has "edit_file" or "write_file".
- A verifier only reads, whatever its tools: files, changes, and the commands that the author or code ran, with their exit codes.
- new_agents only where no agent of <agents> fits. prompt is the whole role: how it works, and what its result looks like. tools are names of <agent_tools>.

Example: {"agents":[{"agent_name":"database_agent","role":"doer","responsibility":"Designs and writes the tables and their migration","agent_id":"engineer"},{"agent_name":"api_agent","role":"doer","responsibility":"Writes the endpoints and their tests","agent_id":"engineer"},{"agent_name":"verifier_agent","role":"verifier","responsibility":"Checks tables, endpoints and tests against their evidence","agent_id":"reviewer"}],"new_agents":[]}`,
  request: () => 'Choose the agents of this work.',
});

/** Tasks and their order (seed 003, "Workflow Sequencing Agent"). */
export const sequencingStage = defineDesignStage({
  stage: 'sequencing',
  schema: DesignSequence,
  rules: `# The sequence
- A task is what one agent of the roster can do in one go, and another one can check. Verifiers have no tasks of their own: each task is verified as it ends. Every other agent of the roster has one, but a solution_architect only where technology, architecture or security has to be decided first: it also answers what doers ask while they work.
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
- Every task of the sequence has an entry. outputs: the files that it writes, each with a format that its readers can rely on. What belongs into the user's workspace, such as code, tests or a README, is written where it belongs there, and nowhere else; all other results, such as findings, decisions or reports, below "agents/<agent_name>/task_output/".
- inputs: the files that it reads. from is the task that writes it, with the same path and format as there, and one on which this task depends, directly or through others; null for a file that exists before the work starts.

Example: {"tasks":[{"task":"create_user_table","inputs":[],"outputs":[{"path":"agents/database_agent/task_output/schema.sql","format":"SQL for PostgreSQL 16, runs on an empty database"}]},{"task":"sign_in_endpoints","inputs":[{"path":"agents/database_agent/task_output/schema.sql","format":"SQL for PostgreSQL 16, runs on an empty database","from":"create_user_table"}],"outputs":[{"path":"src/sign-in.js","format":"ES module: one handler for each endpoint"},{"path":"test/sign-in.test.js","format":"node:test"}]}]}`,
  request: () => 'Design the files that each task reads and writes.',
});

/** Evidence and verifiers (seed 003, "Validation Checkpoint Designer"). */
export const checkpointsStage = defineDesignStage({
  stage: 'checkpoints',
  schema: DesignCheckpoints,
  rules: `# The checkpoints
- Every task of the sequence has an entry. verified_by is an agent_name with the role "verifier", never the task's own agent nor one with the same agent_id.
- evidence: one to five statements that can be seen to be true or not. evidence_id is a short name, unique in the plan. A defect that matters must make one of them false.
- Each criterion of <goal_criteria> is evidence, besides these, of the one task that meets it, often the last: evidence_id is its criterion_id, and description asks for all that the user's words ask for.
- The verifier reads files and changes and runs nothing, but sees each command of the author with its exit code and output: what only a run shows is worded so, such as "npm test exits with 0".
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

/** Answer to a question that the user has about the design, at any time. */
export const explanationStage: DesignStage = {
  isBesideRun: true,
  ...defineDesignStage({
    stage: 'explanation',
    schema: DesignExplanation,
    rules: `# Explaining
The user asks about the design: <subject> is what was said, the newest question last. You answer for your part of it, from <materials> and <plan> alone.
- answer: for a person, as short as the question allows, in Markdown. Name the tasks, agents and decisions that it rests on. What is not in what you were given, you do not know: say so, and who could know it.
- You change nothing and promise no change, whatever the question says. If the user wants a change, amendment is the instruction that they could send to the run, one to three sentences that are understood without this conversation; otherwise null.

Example for "Why two databases?": {"answer":"Because of decision 2 of the interview: reports must not slow down orders. \`create_report_store_1727539200\` therefore reads a copy. One database would do if reports could run at night; nobody has asked that.","amendment":null}`,
    plan: 'whole',
    request: () => 'Answer the question of the user.',
    outline: (explanation) => ({ explanation }),
  }),
};
