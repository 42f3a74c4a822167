import { CancellationScope, condition } from '@temporalio/workflow';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import type { Usage } from '../../contracts/usage.ts';
import { openPhase, stepPhase } from '../../core/triad/step-phase.ts';
import { resolveTriad } from '../../core/triad/phase-state.ts';
import { describeTimeout, listSpans } from '../../core/schedule/work-clock.ts';
import type { Deadline, TriadLimit, TurnSpan } from '../../core/schedule/work-clock.ts';
import type { PhaseState, TurnOrder } from '../../core/triad/phase-state.ts';
import type { FailureReason } from '../../core/turns/turns-state.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import type { Control } from '../shared/control.ts';
import type { Budget } from '../shared/budget.ts';
import { inSpan } from '../shared/in-span.ts';
import { shareBudget } from '../shared/share-budget.ts';
import type { SharedBudget } from '../shared/share-budget.ts';
import type { Superior } from '../shared/superior.ts';
import { MemberAtWork } from './member-at-work.ts';
import type {
  MemberContext,
  KeptMember,
  KeptMembers,
  PhaseFailure,
  PhaseOrder,
  PhaseResult,
} from './member-at-work.ts';
import { takeTurn, turnSpan, turnSpanEnd } from './take-turn.ts';
import type { TurnEnd } from './take-turn.ts';
import { askSuperior } from '../shared/superior.ts';
import { watchDeadline, createWorkClock } from '../shared/work-clock.ts';
import type { Stopwatch } from '../shared/work-clock.ts';

export interface PhaseContext {
  readonly control: Control;
  readonly superior: Superior;
  readonly budget: Budget;
  /**
   * Called when something that people see has changed.
   *
   * @param waitingFor A question; empty for none. @param usage Of this attempt.
   */
  readonly onChange: (state: PhaseState, waitingFor: string, usage: Usage) => void;
}

/** @param onWait Called when the call begins to wait for another, and when it no longer does. */
type WaitingInTurn = <T>(call: () => Promise<T>, onWait: (waits: boolean) => void) => Promise<T>;

/** A phase under way. `core/triad` decides; this starts turns, waits and remembers. */
interface PhaseAtWork {
  readonly order: PhaseOrder;
  readonly context: PhaseContext;
  readonly budget: SharedBudget;
  readonly members: ReadonlyMap<string, MemberAtWork>;
  readonly tools: MemberContext['tools'];
  readonly inTurn: WaitingInTurn;
  readonly clock: Stopwatch;
  /** Every turn belongs to it: a time limit cancels it. */
  readonly scope: CancellationScope;
  readonly running: Map<number, TurnSpan>;
  /** Questions that wait for the user. */
  readonly waits: Set<string>;
  state: PhaseState;
  failed: PhaseFailure | null;
  /** Milliseconds of work at which the round began. */
  roundSinceMs: number;
  escalations: number;
}

/**
 * Three members at one phase of their work. Turns start the moment `core/triad` gives them out. The first that fails ends
 * the phase: no new call starts, those in flight finish, and everything is kept for another attempt.
 */
export async function runPhase(order: PhaseOrder, context: PhaseContext): Promise<PhaseResult> {
  const p = beginPhase(order, context);
  const stopWatching = watchDeadline({
    clock: p.clock,
    timeouts: p.state.setup.timeouts,
    spans: () => listSpans(0, p.roundSinceMs, [...p.running.values()]),
    summary: 'time limits of the phase',
    onTimeout(deadline) {
      noteTimeout(p, deadline);
      p.scope.cancel();
      return 'end';
    },
  });
  await p.scope.run(() => takeTurns(p));
  stopWatching();
  if (!p.scope.consideredCancelled && p.state.stage !== 'ended') {
    fail(
      p,
      p.state.setup.members[0]?.name ?? '',
      'other',
      'Nobody has a turn, and it is not over.',
    );
  }
  show(p);
  return resultOf(p);
}

function beginPhase(order: PhaseOrder, context: PhaseContext): PhaseAtWork {
  const { begin, carried, triad } = order;
  const kept = begin.type === 'resume' ? begin.members : {};
  const state =
    begin.type === 'resume'
      ? begin.state
      : openPhase(resolveTriad(triad), order.phase, begin).state;
  const members = state.setup.members.map(({ name }) => {
    const calls = carried.calls[name] ?? 0;
    return [name, new MemberAtWork(calls, kept[name] ?? null)] as const;
  });
  const budget = shareBudget(context.budget);
  const clock = createWorkClock(context.control);
  budget.holdWhileAsking(clock);
  return {
    order,
    context,
    budget,
    members: new Map(members),
    tools: { loadedDetails: carried.loaded_details, effects: [...carried.effects] },
    inTurn: takeInTurn(context.control),
    clock,
    scope: new CancellationScope(),
    running: new Map(),
    waits: new Set(),
    state,
    failed: null,
    roundSinceMs: 0,
    escalations: 0,
  };
}

/**
 * Returns a function that makes one call after the other. After a crash a command is repeated on the files as they were
 * before it, which must be those of its own copy: what another member changed meanwhile would be gone.
 */
function takeInTurn(control: Control): WaitingInTurn {
  const at = { isBusy: false };
  return async (call, onWait) => {
    while (at.isBusy) {
      onWait(true);
      // Another may have begun meanwhile.
      // oxlint-disable-next-line no-await-in-loop
      await condition(() => !at.isBusy);
      onWait(false);
      // oxlint-disable-next-line no-await-in-loop
      await control.ready();
    }
    at.isBusy = true;
    try {
      return await call();
    } finally {
      at.isBusy = false;
    }
  };
}

/** Takes every turn that is given out and not at work, and those that follow from each as soon as it is over. */
async function takeTurns(p: PhaseAtWork): Promise<void> {
  const orders = p.state.outstanding.filter(({ turn }) => !p.running.has(turn));
  for (const { turn, dispatch, brief } of orders) {
    p.running.set(turn, { member: brief.member.name, since_ms: p.clock.now(), dispatch });
  }
  show(p);
  await Promise.all(orders.map((order) => takeOne(p, order)));
}

async function takeOne(p: PhaseAtWork, order: TurnOrder): Promise<void> {
  const { name } = order.brief.member;
  const member = p.members.get(name);
  if (member === undefined) throw new Error(`There is no member ${name}.`);
  const budget = p.budget.forCalls();
  const end = await inSpan(
    turnSpan(order.brief),
    () => takeTurn(order, member, contextOf(p, order, budget)),
    turnSpanEnd,
  );
  budget.close();
  p.running.delete(order.turn);
  takeEnd(p, name, end);
  const goesOn = end.type === 'finished' && p.failed === null && !p.scope.consideredCancelled;
  if (goesOn) await takeTurns(p);
}

function takeEnd(p: PhaseAtWork, name: string, end: TurnEnd): void {
  switch (end.type) {
    case 'finished': {
      const { round, stage } = p.state;
      p.state = stepPhase(p.state, end.finished).state;
      // The writer's last word belongs to no round.
      if (p.state.round !== round || p.state.stage !== stage) p.roundSinceMs = p.clock.now();
      return;
    }
    case 'failed':
      return fail(p, name, end.why, end.reason);
    case 'denied':
      return fail(p, name, 'budget_spent', end.reason);
    case 'halted':
    case 'stopped':
      return;
  }
}

function noteTimeout(p: PhaseAtWork, deadline: Deadline<TriadLimit>): void {
  const agent = deadline.span.at_work[0] ?? p.state.setup.members[0]?.name ?? '';
  fail(p, agent, 'timed_out', describeTimeout(deadline, p.state.setup.timeouts));
}

/** The first failure counts: what follows from it is none of its own. */
function fail(p: PhaseAtWork, agent: string, why: FailureReason, message: string): void {
  p.failed ??= { failure: { agent, phase: p.order.phase, message }, why };
}

function contextOf(p: PhaseAtWork, { turn, brief }: TurnOrder, budget: Budget): MemberContext {
  const { control, superior } = p.context;
  return {
    order: p.order.order,
    control,
    superior,
    budget,
    tools: p.tools,
    inTurn: (call) => p.inTurn(call, (waits) => noteWait(p, turn, waits)),
    ask: (kind, questions, deadlineSeconds) =>
      ask(p, brief.member.agent_id, { kind, questions, deadlineSeconds, budget }),
    onChange: () => show(p),
    isHalted: () => p.failed !== null,
  };
}

/** Lets no time limit of a turn run while its member waits for another to act. */
function noteWait({ running, clock }: PhaseAtWork, turn: number, waits: boolean): void {
  const span = running.get(turn);
  if (span !== undefined) running.set(turn, { ...span, acts_since_ms: waits ? null : clock.now() });
}

interface Asking {
  readonly kind: QuestionKind;
  readonly questions: readonly AskedQuestion[];
  readonly deadlineSeconds: number | undefined;
  readonly budget: Budget;
}

/** Puts questions of a member to the user. While they wait, no time limit runs. */
async function ask(
  p: PhaseAtWork,
  agent_id: string,
  { kind, questions, deadlineSeconds, budget }: Asking,
): Promise<readonly DeliveredAnswer[]> {
  const { order } = p.order;
  p.escalations += 1;
  const escalation_id = `${order.delegation.delegation_id}#${p.escalations}`;
  const shown = questions.map(({ text }) => text).join(' · ');
  p.waits.add(shown);
  p.clock.stand();
  show(p);
  try {
    const asked = { escalation_id, agent_id, kind, questions, deadlineSeconds };
    return await askSuperior(order, { superior: p.context.superior, budget }, asked);
  } finally {
    p.waits.delete(shown);
    p.clock.go();
    show(p);
  }
}

function show(p: PhaseAtWork): void {
  p.context.onChange(p.state, [...p.waits].join(' · '), usageOf(p));
}

function usageOf({ members }: PhaseAtWork): Usage {
  return addUsage(...[...members.values()].map((member) => member.usage()));
}

function resultOf(p: PhaseAtWork): PhaseResult {
  const { state, failed, tools } = p;
  const members = [...p.members];
  const isDone = failed === null && state.stage === 'ended';
  return {
    status: isDone ? 'done' : failed === null ? 'stopped' : 'failed',
    state,
    kept: isDone ? null : keepMembers(p),
    failed,
    carried: {
      budget: p.context.budget.carry(),
      calls: Object.fromEntries(members.map(([name, member]) => [name, member.calls()])),
      loaded_details: tools.loadedDetails,
      effects: tools.effects,
    },
    usage: usageOf(p),
    heard: p.context.superior.news.heard(),
  };
}

function keepMembers({ members }: PhaseAtWork): KeptMembers {
  const kept = [...members].flatMap(([name, member]): [string, KeptMember][] => {
    const one = member.keep();
    return one === null ? [] : [[name, one]];
  });
  return Object.fromEntries(kept);
}
