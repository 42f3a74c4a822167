import { setHandler, workflowInfo } from '@temporalio/workflow';
import { workflowTypes } from '../../contracts/names.ts';
import type { Question } from '../../contracts/question.ts';
import type { RunPhase, StatusView } from '../../contracts/views.ts';
import { designWorkflowId } from '../../core/ids.ts';
import { listApprovers } from '../../core/questions/judge-answer.ts';
import { listGuarded } from '../../core/plan/rule-of-two.ts';
import { describeWait } from '../../core/render/questions.ts';
import { noticeLongHistory } from '../../core/text/format.ts';
import { renderRunDetails } from '../../core/render/render-run-details.ts';
import type { Control } from './control.ts';
import type { InboxHost } from './inbox-host.ts';
import { planQuery, statusQuery } from './messages.ts';
import { describeBudget, usageSoFar, type RootState } from './root-state.ts';
import { createMirror } from './visibility.ts';
import { createRefresher } from './background.ts';
import { Notices } from './notices.ts';
import type { NotifiedState } from '../../contracts/notification.ts';
import type { CarriedRun, RunStatus } from '../../contracts/planner-run.ts';

/** Sources of a root workflow's views. */
interface Shown {
  readonly runId: string;
  readonly state: RootState;
  readonly control: Control;
  readonly inbox: InboxHost;
}

/** Answers the queries and keeps the Web UI's details, memo and search attributes up to date. */
export class RootViews {
  readonly #shown: Shown;
  readonly #mirror = createMirror();
  readonly #notices: Notices;
  /** Shows the state at the end of the current workflow task, once for all its changes. */
  readonly refresh: () => void;

  /** @param notified Carried over from the run before continue-as-new. */
  constructor(shown: Shown, notified: NotifiedState | undefined) {
    this.#shown = shown;
    this.#notices = new Notices(notified);
    setHandler(statusQuery, () => this.status(), {
      description: 'Phase, wave, waits and usage.',
    });
    setHandler(planQuery, () => shown.state.plan, {
      description: 'The plan of the current wave.',
    });
    this.refresh = createRefresher(() => this.show());
  }

  status(): StatusView {
    return viewStatus(this.#shown);
  }

  /** Tells a person that the run has ended, unless another workflow waits for that. Must be called when its result is known, before its phase is the last one. */
  async tellEnd(status: RunStatus): Promise<void> {
    if (!isBelow() && isTold(this.#shown)) await this.#notices.end(this.status(), status);
  }

  /** Resolves when every notification is on its way. */
  settleNotices(): Promise<void> {
    return this.#notices.settled();
  }

  /** Returns true when every notification is on its way. */
  hasToldAll(): boolean {
    return this.#notices.isSettled();
  }

  /** Returns what the next execution has to know of notifications. */
  carryNotices(): Pick<CarriedRun, 'notified'> {
    const notified = this.#notices.carry();
    return notified === undefined ? {} : { notified };
  }

  /** Shows the state now: used for the last state, after which nothing follows. */
  show(): void {
    const status = viewStatus(this.#shown);
    const open = openQuestions(this.#shown);
    const asked = open.map(({ asked_at }) => asked_at);
    const { state, control } = this.#shown;
    if (isTold(this.#shown) && (state.phase === null || state.phase === 'ending')) {
      const { parked_reason: parked } = status;
      const again = control.hasParkedAgain();
      this.#notices.look(status, { parked, again, open: isAttended(this.#shown) ? open : [] });
    }
    const { run_id, goal, phase, wave, open_questions, usage, waiting_for, store, load } = status;
    this.#mirror(
      {
        run_id,
        goal_title: goal,
        phase,
        wave,
        open_questions,
        oldest_question_at: asked.length === 0 ? null : Math.min(...asked),
        cost_micro_usd: usage.cost_micro_usd,
        waiting_for: waiting_for[0] ?? '',
        store,
        load,
      },
      renderDetails(this.#shown, status),
    );
  }
}

/** Returns true for a run that can't write its result until a person has mended something. */
function isParkedAtEnd({ state, control }: Pick<Shown, 'state' | 'control'>): boolean {
  return state.phase === 'ending' && control.parkedReason() !== null;
}

/** Returns true when a person is told what the run waits for. */
function isTold(shown: Shown): boolean {
  return shown.state.opened?.notify === true;
}

/** Returns true below an evaluation or a workflow of the user's, which gets the result itself. */
function isBelow(): boolean {
  return workflowInfo().parent !== undefined;
}

/** An unattended run ends at a question, so no person can answer it. */
function isAttended({ state }: Shown): boolean {
  return state.opened?.unattended !== true;
}

/** Returns the questions that still wait. After the end none does, even if it was left unanswered. */
function openQuestions({ state, inbox }: Shown): readonly Question[] {
  return state.phase === null ? inbox.open() : [];
}

function viewStatus(shown: Shown): StatusView {
  const { runId, state, control } = shown;
  const open = openQuestions(shown);
  return {
    run_id: runId,
    goal: state.goal_title,
    ...viewPlace(state),
    phase: phaseOf(shown, open.length),
    wave: state.wave_at_work,
    waves_allowed: state.waves_allowed,
    waiting_for:
      state.phase === null || isParkedAtEnd(shown)
        ? waitsOf(
            control,
            open.map((one) => describeWait(one)),
          )
        : [],
    open_questions: open.length,
    usage: usageSoFar(state),
    paused_reason: control.pausedReason(),
    parked_reason: control.parkedReason(),
    ...viewStop(state),
    wave_workflow_id: state.wave_workflow_id,
    result_path: state.result?.result_path ?? null,
    ...(state.mode !== null && { mode: state.mode }),
    ...(state.phase === null && viewWork(state, open.length > 0)),
    ...(state.work !== null && { delegation: state.work }),
  };
}

function viewStop({ stop_reason, result }: RootState): Pick<StatusView, 'stop_reason'> {
  return stop_reason !== null && result === null ? { stop_reason } : {};
}

/** Returns what was decided when the run was opened; nothing before. */
function viewPlace({ opened }: RootState): Pick<StatusView, 'store' | 'load'> {
  return {
    ...(opened !== null && { store: opened.store }),
    ...(opened?.load !== undefined && { load: opened.load }),
  };
}

/** Returns what is to be seen of a run only while it works. */
function viewWork(
  state: RootState,
  isAsking: boolean,
): Pick<StatusView, 'guarded' | 'history_notice' | 'design' | 'stages_at_work'> {
  const { historyLength, historySize } = workflowInfo();
  const guarded = listGuarded(state.plan?.delegations ?? []);
  const notice = noticeLongHistory(historyLength, historySize);
  return {
    ...(guarded.length > 0 && { guarded }),
    ...(notice !== null && { history_notice: notice }),
    ...(!isAsking && state.stages.size > 0 && { stages_at_work: [...state.stages.values()] }),
    ...viewDesign(state),
  };
}

/** Returns the stages of a design at work; nothing before and after it. */
function viewDesign({ design, plan_approved }: RootState): Pick<StatusView, 'design'> {
  if (design === null || plan_approved !== null) return {};
  const last = design.materials.at(-1);
  const { workflowId, workflowType } = workflowInfo();
  const workflow_id =
    workflowType === workflowTypes.plannerRun ? designWorkflowId(workflowId) : workflowId;
  const stages_done = design.materials.length;
  return { design: { workflow_id, stages_done, last_stage: last?.stage ?? null } };
}

function phaseOf(shown: Shown, openCount: number): RunPhase {
  const { state, control } = shown;
  if (isParkedAtEnd(shown)) return 'parked';
  if (state.phase !== null) return state.phase;
  if (control.parkedReason() !== null) return 'parked';
  if (control.pausedReason() !== null) return 'paused';
  if (openCount > 0) return 'waiting_for_user';
  return state.opened === null ? 'intake' : 'working';
}

function waitsOf(control: Control, questions: readonly string[]): string[] {
  const parked = control.parkedReason();
  const paused = control.pausedReason();
  return [
    ...(parked === null ? [] : [`parked: ${parked}`]),
    ...(paused === null ? [] : [`paused${paused === '' ? '' : `: ${paused}`}`]),
    ...questions,
  ];
}

/** Returns the part that reports its own use until it ends. */
function atWork({ wave_workflow_id, work }: RootState): 'wave' | 'phase' | null {
  if (wave_workflow_id !== null) return 'wave';
  return work?.phases_at_work === undefined ? null : 'phase';
}

function renderDetails(shown: Shown, status: StatusView): string {
  const { state, inbox } = shown;
  return renderRunDetails({
    run_id: status.run_id,
    goal: status.goal,
    phase: status.phase,
    wave: status.wave,
    waves_allowed: status.waves_allowed,
    questions: openQuestions(shown).map((question) => {
      return { ...question, ...listApprovers(question, state.opened?.approvers ?? null) };
    }),
    plan: state.plan,
    waves: state.waves,
    // A part that was started by hand is counted at its end; until then it reports its own use.
    usage: status.usage.calls === 0 && state.work !== null ? state.work.usage : status.usage,
    budget: describeBudget(state),
    at_work: atWork(state),
    design: status.design,
    mode: status.mode,
    criteria: state.criteria,
    answer: state.result?.answer ?? '',
    result_path: status.result_path,
    paused_reason: status.paused_reason,
    parked_reason: status.parked_reason,
    history_notice: status.history_notice,
    ...inbox.rejected(),
    executor: state.work?.executor,
  });
}
