import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { WrittenDelegation } from '../../contracts/delegation.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { writeDelegation } from '../../core/executor.ts';
import type { RehearsalServer } from '../../rehearsal/server/server.ts';
import type {
  RecordedCall,
  Reply,
  ReplyFunction,
  ScriptedRequest,
  ScriptRule,
} from '../../rehearsal/script.ts';
import {
  askedQuestion,
  judgedOk,
  nothingToTell,
  plannedDelegation,
  waveDecision,
  wavePlan,
} from './factories.ts';
import type { WaveDecision, WrittenPlan } from '../../contracts/wave-plan.ts';

/** Limits of a run in which each delegation is a workflow of its own, as in a wave whose history is full. */
export const ownWorkflows = { inline_events: 1 } as const;

/** Creates a delegation that fulfils every rule. Its one criterion is `<id>-done` unless others are given. */
export function work(
  id: string,
  over: Partial<WrittenDelegation> & { readonly criteria?: readonly string[] } = {},
): WrittenDelegation {
  const { criteria = [`${id}-done`], ...fields } = over;
  return {
    ...writeDelegation(plannedDelegation(id)),
    task_description: `Do what ${id} stands for.`,
    acceptance_criteria: criteria.map((criterion_id) => ({
      criterion_id,
      description: `${criterion_id} can be seen in the result.`,
    })),
    ...fields,
  };
}

export function plan(
  delegations: readonly WrittenDelegation[],
  asked: readonly AskedQuestion[] = [],
): WrittenPlan {
  const summary = `A plan of ${delegations.length} delegations.`;
  return { ...wavePlan([], asked), summary, delegations: [...delegations] };
}

/** Creates a critical question, unless specified otherwise: the rehearsed planner passes it on to the user. */
export function question(text: string, over: Partial<AskedQuestion> = {}): AskedQuestion {
  const usual = { why_it_matters: 'The result depends on it.', priority: 'critical' } as const;
  return askedQuestion({ text, ...usual, ...over });
}

/** Creates an output that meets every criterion named. */
export function completed(...criteria: readonly string[]): AgentOutput {
  return {
    ...nothingToTell,
    compact_md: `Done: ${criteria.join(', ')}.`,
    detailed_md: `# Result\n\n${criteria.map((id) => `## ${id}\n\nIt is done.`).join('\n\n')}\n`,
    coverage: {
      criteria_met: criteria.map((criterion_id) => ({
        criterion_id,
        evidence: `detailed_md, section "${criterion_id}"`,
        // Always available, whatever a test makes of the text.
        where: { kind: 'input', value: 'goal' },
      })),
      criteria_unmet: [],
    },
  };
}

/** Creates an output that meets its own criterion and not the user's, so that another wave follows. */
export function notYet(id: string): AgentOutput {
  const output = completed(`${id}-done`);
  const criteria_unmet = [{ criterion_id: 'goal-1', reason: `${id} is only a step.` }];
  return { ...output, coverage: { ...output.coverage, criteria_unmet } };
}

/** Creates an output that meets none of the criteria named. */
export function unmet(
  status: AgentOutput['status'],
  reason: string,
  ...criteria: readonly string[]
): AgentOutput {
  return {
    ...completed(...criteria),
    compact_md: `Not done: ${reason}`,
    status,
    coverage: {
      criteria_met: [],
      criteria_unmet: criteria.map((criterion_id) => ({ criterion_id, reason })),
    },
  };
}

/** Creates an output that waits for the answers to its questions. */
export function blocked(
  asked: readonly AskedQuestion[],
  ...criteria: readonly string[]
): AgentOutput {
  return {
    ...unmet('blocked', 'Waits for the answers.', ...criteria),
    blocking_questions: [...asked],
  };
}

/** Creates a decision that names what is open; without anything open it is OK. */
export function decision(...open: readonly string[]): WaveDecision {
  const isOk = open.length === 0;
  return waveDecision({
    wave_compact: `Open: ${open.join(', ') || 'nothing'}.`,
    wave_detailed: '# What came back\n\nSee the outcomes.\n',
    planner_decision: {
      ...judgedOk,
      io_status: isOk ? 'OK' : 'NOT_OK',
      not_ok_reasons: open.map((id) => `${id} is open.`),
    },
    answer: isOk ? { kind: 'text', value: 'All of it is done.' } : null,
  });
}

/** The rule for the nth plan of the planner, from 1. */
export function plans(nth: number, json: WrittenPlan): ScriptRule {
  return { match: { schema: 'plan', nth }, reply: { json } };
}

/** Rule by which the planner plans one delegation instead of the rehearsal's four: `task`, which meets `task-done`. */
export const plansOneTask: ScriptRule = {
  match: { schema: 'plan' },
  reply: { json: plan([work('task')]) },
};

/**
 * Creates the rule for the nth call of a delegation, from 1; without `nth` for all calls that no rule before it
 * answers.
 */
export function works(id: string, reply: Reply | ReplyFunction, nth?: number): ScriptRule {
  return {
    match: { callKeyIncludes: `/${id}/`, schema: 'delegation', ...(nth !== undefined && { nth }) },
    reply,
  };
}

/** Returns the calls of one delegation, in the order of arrival. */
export function callsOf(rehearsal: RehearsalServer, id: string): readonly RecordedCall[] {
  return rehearsal.calls().filter(({ callKey }) => callKey.includes(`/${id}/`));
}

/** Returns the planner's calls for plans, in the order of arrival. */
export function planCalls(rehearsal: RehearsalServer): readonly RecordedCall[] {
  return rehearsal.calls().filter(({ shape }) => shape === 'plan');
}

/** Returns true when a request begins its conversation. */
export function isFirstTurn({ messages }: ScriptedRequest['body']): boolean {
  return Array.isArray(messages) && messages.length === 1;
}

/** Returns the text of the newest message of a call: the addition of its turn. */
export function newestText(call: RecordedCall | undefined): string {
  const body: unknown = call?.body;
  const messages: unknown = isObject(body) ? body['messages'] : undefined;
  const newest: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content: unknown = isObject(newest) ? newest['content'] : undefined;
  if (!Array.isArray(content)) throw new Error('There was no such call, or it sent nothing.');
  return content
    .map((block: unknown) =>
      isObject(block) && typeof block['text'] === 'string' ? block['text'] : '',
    )
    .join('\n');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

interface Held {
  readonly reply: ReplyFunction;
  readonly release: () => void;
}

/**
 * Creates a reply that is held until this many calls wait for it: they are at the model at the same time, however slow.
 */
export function atOnce(count: number, reply: Reply): ReplyFunction {
  const gate = held(reply);
  let waiting = 0;
  return (request) => {
    waiting += 1;
    if (waiting === count) gate.release();
    return gate.reply(request);
  };
}

/** Creates a reply that waits until the test releases it. */
export function held(reply: Reply): Held {
  const gate: { open: () => void } = { open: () => {} };
  const opened = new Promise<void>((resolve) => {
    gate.open = resolve;
  });
  return {
    async reply() {
      await opened;
      return reply;
    },
    release: () => gate.open(),
  };
}
