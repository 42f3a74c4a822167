import { CancellationScope } from '@temporalio/workflow';
import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Prompt } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TeamSetup } from '../../contracts/team-run.ts';
import { isEffectOf } from '../../core/ids.ts';
import { cutReason } from '../../core/team/bound-team.ts';
import { keepEffects } from '../../core/team/keep-effects.ts';
import { openTeamState, slimState } from '../../core/team/team-state.ts';
import type { CarriedTeam, DelegationDesk } from '../delegation/run-delegation.ts';
import { openConversation } from '../shared/conversation.ts';
import type { Conversation, ConversationEnd } from '../shared/conversation.ts';
import { createWorkClock } from '../shared/create-work-clock.ts';
import { shareFunds } from '../shared/share-funds.ts';
import type { MemberFunds } from '../shared/share-funds.ts';
import { shareSuperior } from '../shared/share-superior.ts';
import { stopWhenCancelled } from '../shared/stop-when-cancelled.ts';
import { finishBlocked, finishTeam, neverBegan, showUnopened } from './finish-team.ts';
import type { TeamEnd } from './finish-team.ts';
import { lead } from './lead.ts';
import { openTeam } from './open-team.ts';
import type { OpenedTeam } from './open-team.ts';
import { closeTasks, knownEffects, loadedDetails, showTeam, workedMs } from './team-at-work.ts';
import type { CarryOut, TeamAtWork } from './team-at-work.ts';
import { watchTeam } from './watch-team.ts';

/**
 * Has a delegation done by a team (seed 002): a leader delegates tasks, members do them, and the leader combines their
 * results into one answer. A task is a delegation of its own, done by an agent, a triad or another team in this same
 * workflow.
 */
export async function runTeam(
  order: DelegationOrder,
  desk: DelegationDesk,
  carried: CarriedTeam | null,
  carryOut: CarryOut,
): Promise<DelegationOutcome> {
  // A nested team spends from the same purse.
  const funds = desk.sharedFunds ?? shareFunds(desk.funds);
  const t: Site = {
    order,
    desk,
    carryOut,
    funds,
    leaderFunds: funds.forCalls(),
    taskCount: desk.taskCount ?? { given: 0 },
    superior: shareSuperior(desk.superior, order, carried?.escalations ?? 0),
    scope: new CancellationScope(),
  };
  if (carried !== null) return workOn(resume(t, carried));
  const superior = t.superior.forMember((question) => showUnopened(order, desk, question));
  const opened = await stopWhenCancelled(() => openTeam(order, superior, t.leaderFunds));
  if (opened?.type === 'opened') return workOn(begin(t, opened.team));
  t.leaderFunds.close();
  if (opened?.type === 'blocked') return finishBlocked(order, desk, opened, superior);
  return neverBegan(
    order,
    desk,
    opened === null
      ? { status: 'stopped', reason: 'stopped before it began' }
      : { status: 'failed', reason: opened.reason },
  );
}

/** Parts that exist before the team is open. */
interface Site extends Pick<
  TeamAtWork,
  'order' | 'desk' | 'carryOut' | 'funds' | 'taskCount' | 'superior' | 'scope'
> {
  readonly leaderFunds: MemberFunds;
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
    { ...site, order },
    {
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
      purse: null,
      loaded_details: [],
      effects: [],
    },
  );
}

function resume(site: Site, carried: CarriedTeam): TeamAtWork {
  const { record_ref, plan_ref } = carried;
  return assemble({ ...site, order: { ...site.order, record_ref, plan_ref } }, carried);
}

function assemble({ leaderFunds, ...site }: Site, from: CarriedTeam): TeamAtWork {
  const { desk, order, funds, superior } = site;
  const clock = createWorkClock(desk.control);
  funds.holdWhileAsking(clock);
  const t: TeamAtWork = {
    ...site,
    message_ref: from.message_ref,
    own: {
      funds: leaderFunds,
      superior: superior.forMember((question) => {
        t.waitingFor = question;
        t.leaderState = question === '' ? 'thinking' : 'waiting_for_user';
        if (question === '') clock.go();
        else clock.stand();
        showTeam(t);
      }),
      tools: { loadedDetails: from.loaded_details, loading: 0, effects: ownEffects(order, from) },
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
  if (end.type === 'carry_over' && t.desk.carryOver !== null) {
    return t.desk.carryOver(carry(t));
  }
  closeTasks(t, 'the team has ended');
  t.own.funds.close();
  return finishTeam(t, endOf(t, end));
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
  const { order, message_ref, notes, own, superior } = t;
  return {
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
    purse: t.desk.funds.carry(),
    loaded_details: loadedDetails(t),
    effects: keepEffects(knownEffects(t), order.delegation.delegation_id),
  };
}
