import { CancellationScope } from '@temporalio/workflow';
import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Prompt } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TeamSetup, TeamTerms } from '../../contracts/team-run.ts';
import { isEffectOf } from '../../core/ids.ts';
import { keepEffects, openTeamState, slimState, cutReason } from '../../core/team/team-state.ts';
import { stepSummary } from '../../core/render/labels.ts';
import type { CarriedTeam } from '../execution/execution-context.ts';
import { openConversation } from '../shared/conversation.ts';
import type { Conversation, ConversationEnd } from '../shared/conversation.ts';
import { shareBudget } from '../shared/share-budget.ts';
import type { MemberBudget } from '../shared/share-budget.ts';
import { finishBlocked, finishTeam, neverBegan, showUnopened } from './finish-team.ts';
import type { TeamEnd } from './finish-team.ts';
import { lead } from './lead.ts';
import { openTeam } from './open-team.ts';
import type { OpenedTeam } from './open-team.ts';
import { closeTasks, knownEffects, loadedDetails, showTeam, workedMs } from './team-at-work.ts';
import type { TeamAtWork, TeamContext } from './team-at-work.ts';
import { shareSuperior } from '../shared/share-superior.ts';
import { stopWhenCancelled } from '../shared/failures.ts';
import { watchDeadline, createWorkClock } from '../shared/work-clock.ts';

/**
 * Has a delegation done by a team (seed 002): a leader delegates tasks, members do them, and the leader combines their
 * results into one answer. A task is a delegation of its own, done by an agent, a triad or another team in this same
 * workflow.
 */
export async function runTeam(context: TeamContext): Promise<DelegationOutcome> {
  const { carried } = context;
  if (carried?.kind === 'team') return workOn(resume(openSite(context, carried), carried));
  const t = openSite(context, null);
  const superior = t.superior.forMember((question) =>
    showUnopened(context, question === '' ? 'running' : 'waiting', question),
  );
  const opened = await stopWhenCancelled(() => openTeam(context.order, superior, t.leaderBudget));
  if (opened?.type === 'opened') return workOn(begin(t, opened.team));
  t.leaderBudget.close();
  if (opened?.type === 'blocked') return finishBlocked(context, opened, superior);
  return neverBegan(
    context,
    opened === null
      ? { status: 'stopped', reason: 'stopped before it began' }
      : { status: 'failed', reason: opened.reason },
  );
}

function openSite(context: TeamContext, carried: CarriedTeam | null): Site {
  // A team in a team spends from the same budget.
  const budget = context.sharedBudget ?? shareBudget(context.budget);
  return {
    context,
    budget,
    leaderBudget: budget.forCalls(),
    taskCount: context.taskCount ?? { given: 0 },
    superior: shareSuperior(context.superior, context.order, carried?.escalations ?? 0),
    scope: new CancellationScope(),
  };
}

/** Facts that exist before the team is open. */
interface Site extends Pick<TeamAtWork, 'context' | 'budget' | 'taskCount' | 'superior' | 'scope'> {
  readonly leaderBudget: MemberBudget;
}

function begin(
  site: Site,
  { setup, order, message_ref, history_ref, notes }: OpenedTeam,
): TeamAtWork {
  const { delegation_id } = order.delegation;
  const state = openTeamState(setup, {
    delegation_id,
    chain: order.chain ?? [],
    upstream: order.upstream.map((one) => one.delegation_id),
  });
  const conversation = beginLeading(order, setup, history_ref);
  return assemble(
    { ...site, context: { ...site.context, order } },
    {
      kind: 'team',
      version: 1,
      state,
      record_ref: order.record_ref,
      plan_ref: order.plan_ref,
      message_ref,
      conversation,
      records: [],
      worked_ms: 0,
      notes,
      escalations: 0,
      budget: null,
      loaded_details: [],
      effects: [],
    },
  );
}

function resume(site: Site, carried: CarriedTeam): TeamAtWork {
  const { record_ref, plan_ref } = carried;
  const { context } = site;
  const order = { ...context.order, record_ref, plan_ref };
  return assemble({ ...site, context: { ...context, order } }, carried);
}

function assemble({ leaderBudget, ...site }: Site, from: CarriedTeam): TeamAtWork {
  const { context, budget, superior } = site;
  const { order } = context;
  const clock = createWorkClock(context.control);
  budget.holdWhileAsking(clock);
  const t: TeamAtWork = {
    ...site,
    message_ref: from.message_ref,
    own: {
      budget: leaderBudget,
      superior: superior.forMember((question) => {
        t.waitingFor = question;
        t.leaderState = question === '' ? 'thinking' : 'waiting_for_user';
        if (question === '') clock.go();
        else clock.stand();
        showTeam(t);
      }),
      tools: { loadedDetails: from.loaded_details, effects: ownEffects(order, from) },
      conversation: from.conversation,
    },
    clock,
    workedBefore: from.worked_ms,
    running: new Map(),
    records: new Map(from.records.map((record) => [record.delegation_id, record])),
    seen: new Map(
      from.records.map(({ delegation_id, turns, usage }) => [
        delegation_id,
        { turns, usage, status: null },
      ]),
    ),
    loaded: new Map(),
    notes: [...from.notes],
    effectsBefore: from.effects,
    state: from.state,
    leaderState: 'thinking',
    waitingFor: '',
    closed: null,
  };
  return t;
}

/** Returns the leader's own effects; its next ones are numbered after them. */
function ownEffects({ delegation }: DelegationOrder, { effects }: CarriedTeam) {
  return effects.filter(({ effect_id }) => isEffectOf(delegation.delegation_id, effect_id));
}

function beginLeading(
  { record_ref, plan_ref, upstream, limits, delegation }: DelegationOrder,
  setup: TeamSetup,
  history_ref: Ref | null,
): Conversation {
  const { delegation_id } = delegation;
  const prompt: Prompt = {
    kind: 'leader',
    record_ref,
    plan_ref,
    delegation_id,
    upstream,
    setup,
    history_ref,
  };
  return openConversation(prompt, limits);
}

async function workOn(t: TeamAtWork): Promise<DelegationOutcome> {
  showTeam(t);
  const stopWatching = watchTeam(t);
  // However the team is stopped, tasks that have not begun by then do not begin.
  void t.scope.cancelRequested.catch(() => closeTasks(t, 'the team was stopped'));
  const end = await t.scope.run(() => lead(t)).finally(stopWatching);
  if (end.type === 'carry_over' && t.context.carryOver !== null) {
    return t.context.carryOver.take(carry(t));
  }
  closeTasks(t, 'the team has ended');
  t.own.budget.close();
  t.context.onEnd?.({
    why: null,
    partial_ref: null,
    effects: keepEffects(knownEffects(t), t.context.order.delegation.delegation_id),
    escalations: t.superior.escalations(),
    team: termsOf(t),
  });
  return finishTeam(t, endOf(t, end));
}

function termsOf({ context, state, message_ref }: TeamAtWork): TeamTerms {
  const { record_ref, plan_ref } = context.order;
  const { input_middlewares, output_middlewares, guardrails, thread_id, user_id } = state.setup;
  return {
    record_ref,
    plan_ref,
    message_ref,
    input_middlewares,
    output_middlewares,
    guardrails,
    thread_id,
    user_id,
  };
}

function endOf(t: TeamAtWork, end: ConversationEnd): TeamEnd {
  if (t.closed !== null) return { ...t.closed, output: null };
  switch (end.type) {
    case 'output':
      return end.outline.shape === 'agent_output'
        ? { status: 'done', reason: '', output: end.outline.output }
        : { status: 'failed', reason: 'The leader gave no output.', output: null };
    case 'failed':
    case 'denied':
      return { status: 'failed', reason: `${t.state.setup.leader}: ${end.reason}`, output: null };
    case 'stopped':
    case 'carry_over':
    case 'done_by_tools':
      return { status: 'stopped', reason: 'stopped while it worked', output: null };
  }
}

function carry(t: TeamAtWork): CarriedTeam {
  const { message_ref, notes, own, superior } = t;
  const { order } = t.context;
  return {
    kind: 'team',
    version: 1,
    state: slimState(t.state),
    record_ref: order.record_ref,
    plan_ref: order.plan_ref,
    message_ref,
    conversation: own.conversation,
    records: [...t.records.values()].map(cutReason),
    worked_ms: workedMs(t),
    notes,
    escalations: superior.escalations(),
    budget: t.context.budget.carry(),
    loaded_details: loadedDetails(t),
    effects: keepEffects(knownEffects(t), order.delegation.delegation_id),
  };
}

/**
 * Watches the time of the team and of each task (cases 3.4, 8.2, 8.3). A task whose time is over is cancelled, with the call
 * that it makes; when the team's is, everything is. @returns ends it.
 */
function watchTeam(t: TeamAtWork): () => void {
  const { timeout, member_timeout } = t.state.setup;
  return watchDeadline({
    clock: { ...t.clock, now: () => workedMs(t) },
    timeouts: { timeout, member_timeout },
    spans: () => [
      ...[...t.running].flatMap(([delegation_id, { since_ms, isTimedOut }]) =>
        isTimedOut
          ? []
          : [{ limit: 'member_timeout' as const, since_ms, at_work: [delegation_id] }],
      ),
      { limit: 'timeout', since_ms: 0, at_work: [...t.running.keys()] },
    ],
    summary: stepSummary(t.context.order.delegation.delegation_id, 'time limits of the team'),
    onTimeout({ span }) {
      if (span.limit === 'timeout') {
        close(t);
        return 'end';
      }
      for (const id of span.at_work) {
        const task = t.running.get(id);
        if (task === undefined) continue;
        task.isTimedOut = true;
        task.scope.cancel();
      }
      return 'watch_on';
    },
  });
}

function close(t: TeamAtWork): void {
  const reason = `the team's ${t.state.setup.timeout} s (timeout) were over`;
  t.closed = { status: 'timed_out', reason };
  closeTasks(t, reason);
  t.scope.cancel();
}
