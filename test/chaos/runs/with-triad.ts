import type { Reply, ScriptedRequest } from '../../../rehearsal/script.ts';
import { triad, triadWork } from '../../support/scripted-triad.ts';
import { completed, decision, plan, question, work } from '../../support/scripted-work.ts';
import { readCallKey } from '../call-name.ts';
import { countReplies } from '../conversation.ts';
import { campaignBudget, asksFirst, isRehearsed } from './reference-run.ts';
import type { Asking, ReferenceRun } from './reference-run.ts';

/** The delegation that three peers do: they work at the same time, each on a section of its own, and one of them asks. */
export const triadTask = 'region';

/** By delegation. */
const askings: Readonly<Record<string, Asking>> = {
  costs: {
    asked: question('How many euros a month may it cost?', {
      expected_answer_format: 'number',
      default_answer: '120',
    }),
    answer: 120,
    tooLate: 9_000,
  },
  [triadTask]: {
    asked: question('Which region shall hold the copies?', {
      expected_answer_format: 'choice',
      choices: ['eu-west', 'eu-north'],
      default_answer: 'eu-north',
    }),
    answer: 'eu-north',
    tooLate: 'eu-west',
  },
};

const sections = ['law', 'distance', 'price'].map((section_id) => ({
  section_id,
  text: `What is to be said of the ${section_id}.`,
}));

const itsPlan = plan([
  work('facts'),
  work('costs'),
  triadWork(triadTask, 'consensus', { triad: triad('consensus', { sections }) }),
  work('summary', { agent_id: 'researcher', depends_on: ['facts'], required_inputs: ['facts'] }),
]);

/**
 * Four delegations, one of which needs another's output and loads it with a tool, one of which is done by a triad, and two of
 * which ask a question.
 */
export const runWithTriad: ReferenceRun = {
  // What the peers agree to is a plan: they write at the same time.
  input: () => ({
    goal: 'Move the backups of a small shop to a second data centre [later]',
    budget: campaignBudget,
  }),
  taskIds: itsPlan.delegations.map(({ delegation_id }) => delegation_id),
  askings: Object.values(askings),
  replyTo,
};

function replyTo({ callKey, shape, body }: ScriptedRequest): Reply {
  const { owner } = readCallKey(callKey);
  if (owner === 'plan') return { json: itsPlan };
  if (owner === 'decision') return { json: decision() };
  // What members put into their spec is the rehearsal's own, which looks at nothing but the request.
  if (isRehearsed(shape)) return { pass: true };
  if (owner === 'summary' && countReplies(body) === 0) {
    return { tool_use: [{ name: 'load_detail', input: { detail_id: 'facts' } }] };
  }
  const asking = askings[owner];
  if (asking === undefined) return { json: completed(`${owner}-done`) };
  return asksFirst(body, `${owner}-done`, asking);
}
