import type { KeptDelegation, ThreadEntry } from '../../contracts/thread.ts';

export function kept(name: string, change: Partial<KeptDelegation> = {}): KeptDelegation {
  return {
    delegation_id: `design.${name}`,
    member_id: 'writer',
    title: `Task ${name}`,
    task: `Do ${name}.`,
    status: 'completed',
    result: `Did ${name}.`,
    at: 1_000,
    ...change,
  };
}

let entries = 0;

/** Creates an entry of its own thread and run, unless specified otherwise. */
export function entry(change: Partial<ThreadEntry> = {}): ThreadEntry {
  entries += 1;
  return {
    thread_id: `thread-${entries}`,
    user_id: null,
    run_id: `run-${entries}`,
    delegation_id: 'design',
    at: 1_000,
    message: 'How is the tea?',
    answer: 'Hot.',
    delegations: [kept('d1')],
    ...change,
  };
}
