import { stateToolInputs, type StateCall, type TeamCall } from '../../../contracts/state-call.ts';
import { findMentions, hashTask } from '../../../core/team/draft-calls.ts';
import { cleanLine, cutText, titleOf } from '../../../core/text/cut-text.ts';
import { createStateTool } from './state-tool.ts';

/** Same limit as for a delegation's title. */
const titleCharsMax = 120;

export const delegateTaskToMember = createStateTool({
  name: 'delegate_task_to_member',
  input: stateToolInputs.delegate_task_to_member,
  description:
    'Gives one task to a member of your team and comes back with what became of it. Use it for every part of the work ' +
    'that a member in <members> fits. The member sees your task and the results that you name as its inputs, and nothing of ' +
    'this conversation: say what is to be done, with which facts and limits, and what the result has to hold. ' +
    'Make all calls that are ready in one reply: those that do not depend on each other are done at the same time, as far ' +
    'as <team> allows, else one after the other; their results come back together, in the order of your calls. Where one ' +
    'task needs the result of another, give that one a name and list the name in inputs, also within one reply: it then ' +
    'waits for it. inputs may name results of earlier replies and of <upstream_results> too. ' +
    'It returns the status, what you may still give out, the short result, which criteria are met, and the whole result ' +
    'as far as there is room; load_detail gives the rest. An error says why there is no result. A call that is refused, ' +
    'because of its arguments, an unknown or disabled member, a limit, or because it repeats a task with the same ' +
    'inputs, gave nothing out. ' +
    'Limits: each task counts against max_delegations of <team>, has member_timeout seconds of work, takes at most ' +
    '20,000 characters and 20 inputs.',
  example: {
    member_id: 'writer',
    task: 'Write the guide in at most 800 words, for people who have never used a terminal. Follow the outline in your inputs section by section. Name no product.',
    name: 'guide',
    inputs: ['outline'],
  },
  toCall: async ({ member_id, task, name, inputs }, put) => ({
    tool: 'delegate_task_to_member',
    member_id,
    name: name ?? null,
    inputs: inputs ?? [],
    task_ref: await put(task),
    // A line of invisible characters is no title.
    title: cleanLine(titleOf(task), titleCharsMax) || 'A task without words',
    task_hash: hashTask(task),
    // One call alone does not contain the tasks of other members: see `relate`.
    mentions: [],
  }),
  rest: {
    async relate(call, calls, store) {
      const others = calls.filter(isTask);
      if (!isTask(call) || others.length === 0) return call;
      return { ...call, mentions: findMentions(await store.getText(call.task_ref), call, others) };
    },
    describeLeftOut({ content, bytes }) {
      // The engine's own words, with the id to load; the member's text follows them.
      const [said = ''] = content.split('\n', 1);
      return `, ${bytes} bytes: ${cutText(said, 600)}`;
    },
  },
});

function isTask(call: StateCall): call is TeamCall {
  return call.tool === 'delegate_task_to_member';
}
