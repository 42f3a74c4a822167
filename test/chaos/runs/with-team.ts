import type { NamedTeam } from '../../../contracts/team.ts';
import type { Reply, ScriptedRequest } from '../../../rehearsal/script.ts';
import { delegates, gives, taskCriterion, teamWork } from '../../support/scripted-team.ts';
import { triad } from '../../support/scripted-triad.ts';
import { completed, decision, plan, question } from '../../support/scripted-work.ts';
import { readCallKey } from '../call-name.ts';
import { countReplies, messageTexts } from '../conversation.ts';
import { asksFirst, campaignBudget, completedAsTold, isRehearsed } from './reference-run.ts';
import type { Asking, ReferenceRun } from './reference-run.ts';

/** The delegation that the team does. */
export const teamTask = 'desk';

const sections = ['distance', 'price'].map((section_id) => ({
  section_id,
  text: `What is to be said of the ${section_id}.`,
}));

/** Long limits: nothing here is about time, and a worker that is away for long is no slow member. */
const team: NamedTeam = {
  team_id: 'backup-desk',
  members: [
    { id: 'researcher' },
    { id: 'analyst' },
    { id: 'writer' },
    { id: 'council', triad: triad('consensus', { sections }) },
  ],
  allow_parallel: true,
  timeout: 20_000,
  member_timeout: 10_000,
  input_middlewares: ['redact-secrets'],
  guardrails: { output: ['size-limit'] },
};

/** By the name of the task. */
const askings: Readonly<Record<string, Asking>> = {
  costs: {
    asked: question('How many euros a month may it cost?', {
      expected_answer_format: 'number',
      default_answer: '120',
    }),
    answer: 120,
    tooLate: 9_000,
  },
  region: {
    asked: question('Which region shall hold the copies?', {
      expected_answer_format: 'choice',
      choices: ['eu-west', 'eu-north'],
      default_answer: 'eu-north',
    }),
    answer: 'eu-north',
    tooLate: 'eu-west',
  },
};

/** Result of one task that another task needs. */
const finding = 'The law lets the copies leave the country.';

/**
 * One delegation, done by a team of four: three agents and a triad. Its leader gives out five tasks in two replies, and a call
 * that is refused. Four tasks are given at once, of which one needs another's output and two ask a question; a function looks
 * at the message, another one at the answer, and all of it is kept in a thread of the run's own.
 */
export const runWithTeam: ReferenceRun = {
  input: (runId) => ({
    goal: 'Move the backups of a small shop to a second data centre',
    budget: campaignBudget,
    teams: [{ ...team, thread_id: runId }],
  }),
  taskIds: [teamTask],
  askings: Object.values(askings),
  replyTo,
};

function replyTo({ callKey, shape, task, body }: ScriptedRequest): Reply {
  const { owner } = readCallKey(callKey);
  if (owner === 'plan') {
    return { json: plan([teamWork(teamTask, { team_id: team.team_id })]) };
  }
  if (owner === 'decision') return { json: decision() };
  // What members of the triad put into their spec is the rehearsal's own, which looks at nothing but the request.
  if (isRehearsed(shape)) return { pass: true };
  if (task?.leads === true) return leadOn(body);
  const name = task?.delegation_id.slice(teamTask.length + 1) ?? '';
  const asking = askings[name];
  if (asking !== undefined) return asksFirst(body, taskCriterion, asking);
  if (name === 'law') return { json: { ...completed(taskCriterion), compact_md: finding } };
  const [packet = ''] = messageTexts(body);
  return { json: completedAsTold(taskCriterion, packet.includes(finding) ? [finding] : []) };
}

function leadOn(body: unknown): Reply {
  switch (countReplies(body)) {
    case 0:
      return delegates(
        gives('researcher', 'Say what the law allows.', { name: 'law' }),
        gives('analyst', 'Say what it may cost.', { name: 'costs' }),
        gives('accountant', 'Pay for it.', { name: 'payment' }),
        gives('council', 'Choose a region.', { name: 'region' }),
        gives('writer', 'Write down what the law allows.', { name: 'note', inputs: ['law'] }),
      );
    case 1:
      return {
        tool_use: [
          { name: 'load_detail', input: { detail_id: `${teamTask}.law` } },
          gives('writer', 'Write the whole.', { name: 'whole', inputs: ['note', 'region'] }),
        ],
      };
    default:
      return { json: completedAsTold(`${teamTask}-done`, heardBy(body)) };
  }
}

/** Lists the results of the leader's calls, in the order in which it received them. */
function heardBy(body: unknown): readonly string[] {
  const heard = /^Task "[^"]*" of "[^"]*" [^.]*|no member "[^"]*"/gmu;
  return messageTexts(body).flatMap((text) => text.match(heard) ?? []);
}
