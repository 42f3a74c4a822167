import { ConversationSummary, DesignBrief } from '../../contracts/design.ts';
import { defineDesignStage } from './define-design-stage.ts';

const asking = `- Ask only what would change the design, all of it at once, each question understood without other context and with the answer you would take as default_answer. Never ask again what is answered.
- While you ask, give the rest as far as you know it. When nothing of that kind is open any more, user_questions is empty.`;

/** Interview of the user about the goal (seed 003, "Plan Development"). */
export const interviewStage = defineDesignStage({
  stage: 'interview',
  schema: ConversationSummary,
  rules: `# The interview
You ask the user what a design needs to know, and give the summary of what was said.
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
  showsAgents: true,
  rules: `# The brief
You read the summary of the interview and say what the design has to achieve. Specialists work from it.
${asking}
- deliverables: what the user gets. hand_offs: what passes from one kind of work to the next, and how it is validated there. failure_modes: what can go wrong at each step.
- success_criteria are measurable: someone who sees the result can say yes or no. An agent of <agents> can do what its tools do, and nothing else: what none can run is no criterion, but a step for people.
- technologies: those whose practices and failure patterns are worth research, by name and version. None for work that needs none.

Example: {"deliverables":["A migration that creates the tables","Three endpoints with tests"],"hand_offs":["Table definitions pass from database work to API work; the API's tests run against them"],"failure_modes":["E-mails that differ in case become two accounts"],"success_criteria":["The test suite passes on an empty database","A second account with the same e-mail is refused"],"technologies":["PostgreSQL 16","argon2"],"user_questions":[]}`,
  request: () => 'Read the summary and write the brief for the specialists.',
  outline: ({ user_questions, technologies }) => ({ user_questions, technologies }),
});
