import { stateToolInputs } from '../../../contracts/state-call.ts';
import { titleOf } from '../../../core/text/cut-text.ts';
import { hashText } from '../../../core/text/hash-text.ts';
import { createStateTool } from './state-tool.ts';

export const delegateTaskToMember = createStateTool({
  name: 'delegate_task_to_member',
  input: stateToolInputs.delegate_task_to_member,
  description: 'Gives a task to a member of your team.',
  example: { member_id: 'researcher', task: 'List three ways to store sensor data.' },
  toCall: async ({ member_id, task, name, inputs }, put) => ({
    tool: 'delegate_task_to_member',
    member_id,
    name: name ?? null,
    inputs: inputs ?? [],
    task_ref: await put(task),
    title: titleOf(task),
    task_hash: hashText(task),
    mentions: [],
  }),
});
