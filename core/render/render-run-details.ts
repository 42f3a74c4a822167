/**
 * Renders the page of a run in Temporal's Web UI.
 *
 * Invariants:
 *   RD1. The page begins with what waits for whom, and the exact command that helps.
 *   RD2. The page has at most `detailsBytesMax` bytes, whatever the run holds.
 *   RD3. The page of an ended run asks for no answer and no resume.
 *   RD4. The page of an ended run begins with its answer; of a long one with a part, and the place of the whole.
 */
import { signalNames } from '../../contracts/names.ts';
import type { WaveSummary } from '../../contracts/planner-run.ts';
import type { RejectedAnswer } from '../../contracts/question.ts';
import type {
  DesignView,
  ExecutorView,
  OpenQuestion,
  PlanView,
  RunPhase,
  StatusView,
} from '../../contracts/views.ts';
import { formatCost, describeExpected, formatTokens, signalCommand } from '../text/format.ts';
import { openCriteria } from '../criteria/criteria.ts';
import { engineLimits } from '../limits.ts';
import { describeExecutor, describeMode, describePosition, nameStage } from './labels.ts';
import { bullet, codeBlock, codeSpan, joinBlocks, plainText, textBlock } from '../text/markdown.ts';
import { executorBlocks } from './render-work-details.ts';
import { renderQuestions } from './questions.ts';
import type { PlanOutline } from '../../contracts/design-run.ts';
import type { DesignMaterial } from '../../contracts/design.ts';
import { describeSize } from '../workspace/run-changes.ts';
import type { ModeChoice } from '../../contracts/limits.ts';
import type { CriterionState } from '../../contracts/criterion.ts';

/** Content of the run's page. */
export interface RunDetails extends Pick<
  StatusView,
  | 'run_id'
  | 'goal'
  | 'phase'
  | 'wave'
  | 'waves_allowed'
  | 'usage'
  | 'paused_reason'
  | 'parked_reason'
  | 'result_path'
> {
  /** Open questions, in the order of asking. */
  readonly questions: readonly OpenQuestion[];
  readonly plan: PlanView | null;
  readonly waves: readonly WaveSummary[];
  /** Spent amounts against the run's limits; empty without limits. */
  readonly budget: string;
  /** Child that reports its use at its end, so that `usage` and `budget` are without it. */
  readonly at_work: 'wave' | 'phase' | null;
  /** Undefined where the run does not choose its mode. */
  readonly mode?: ModeChoice | undefined;
  /** Undefined before and after a design. */
  readonly design?: DesignView | undefined;
  readonly criteria: readonly CriterionState[];
  /** Same text that the workflow returns; empty until the run has ended, and when there is no answer. */
  readonly answer: string;
  /** Warning of a history that is too long. Undefined before that. */
  readonly history_notice?: string | undefined;
  readonly rejected: readonly RejectedAnswer[];
  /** Number of all rejected messages. */
  readonly rejected_total: number;
  /** State of the executor that was started alone. Undefined if none was. */
  readonly executor?: ExecutorView | undefined;
}

/** Most newest waves, rejections, open criteria and delegations on the page. */
const listedMax = { waves: 10, rejected: 3, criteria: 20, delegations: 60 };

/**
 * Returns Markdown for Temporal's current details. It begins with what waits for whom and the command that answers it.
 */
export function renderRunDetails(view: RunDetails): string {
  return joinBlocks(
    [
      ...(hasEnded(view.phase) ? renderEnd(view) : renderWaits(view)),
      renderRun(view),
      ...(view.executor === undefined ? [] : executorBlocks(view.executor)),
      renderCriteria(view.criteria),
      view.plan === null ? '' : renderPlan(view.plan),
      renderWaves(view.waves),
      renderRejected(view),
    ],
    engineLimits.detailsBytesMax,
  );
}

const headings: Record<RunPhase, string> = {
  intake: 'Reading the goal',
  working: 'At work: nothing waits for you',
  waiting_for_user: 'Waiting for you',
  paused: 'Paused',
  parked: 'Parked: no model call can succeed for now',
  ending: 'Writing the result',
  completed: 'Completed: every criterion is met or waived',
  finished_unmet: 'Finished, with criteria unmet',
  stopped: 'Stopped',
  abandoned: 'Abandoned',
  failed: 'Failed',
};

function hasEnded(phase: RunPhase): boolean {
  return !['intake', 'working', 'waiting_for_user', 'paused', 'parked'].includes(phase);
}

/** Renders the answer as a block of plain text, so that a model's text can't format the page. */
function renderEnd({ phase, answer, result_path }: RunDetails): string[] {
  const heading = `## ${headings[phase]}`;
  if (result_path === null) return [heading];
  const whole = `The whole answer: ${codeSpan(result_path, 300)} below the artifact home.`;
  if (answer === '') return [heading, whole];
  return [heading, '## Answer', textBlock(answer, engineLimits.pageAnswerCharsMax), whole];
}

/** Puts park and pause first: such a run accepts answers, but does not act on them. */
function renderWaits(view: RunDetails): string[] {
  const blocks: string[] = [];
  const resume = codeBlock([signalCommand(view.run_id, signalNames.resume, {})]);
  if (view.parked_reason !== null) {
    const reason = plainText(view.parked_reason, 1_000);
    blocks.push(`## ${headings.parked}\n\n${reason}\n\nMend it, then:`, resume);
  } else if (view.paused_reason !== null) {
    const reason = plainText(view.paused_reason, 1_000);
    blocks.push(
      `## ${headings.paused}${reason === '' ? '' : `\n\n${reason}`}\n\nTo go on:`,
      resume,
    );
  }
  const count = view.questions.length;
  if (count > 0) {
    blocks.push(`## ${count === 1 ? 'One question waits' : `${count} questions wait`} for you`);
    blocks.push(...renderQuestions(view.run_id, view.questions, view.plan));
  }
  return blocks.length > 0 ? blocks : [`## ${headings[view.phase]}`];
}

function renderRun(view: RunDetails): string {
  return [
    '## Run',
    '',
    bullet(`**Goal:** ${plainText(view.goal, 300)}`),
    bullet(
      view.design !== undefined
        ? `**Before the work:** ${describePosition(view)}`
        : `**Wave:** ${view.wave} of ${view.waves_allowed} at most`,
    ),
    ...(view.mode === undefined ? [] : [bullet(`**Chosen:** ${describeMode(view.mode)}`)]),
    bullet(`**Used:** ${describeUsed(view)}`),
    ...(view.budget === '' ? [] : [bullet(`**Budget:** ${view.budget}${without(view)}`)]),
  ].join('\n');
}

/** Describes the use so far, and never shows zero while work is going on. */
function describeUsed(view: RunDetails): string {
  const { usage, at_work } = view;
  if (at_work !== null && usage.calls === 0) {
    return `usage of the current ${at_work} is added when it ends`;
  }
  return `${formatCost(usage)} · ${formatTokens(usage)}${without(view)}`;
}

function without({ at_work }: RunDetails): string {
  return at_work === null ? '' : `, without the current ${at_work}`;
}

function renderCriteria(criteria: readonly CriterionState[]): string {
  if (criteria.length === 0) return '';
  const open = openCriteria(criteria);
  const waived = criteria.filter((c) => c.state === 'waived').length;
  const met = criteria.length - open.length - waived;
  const rest = open.length - listedMax.criteria;
  return [
    '## Criteria',
    '',
    bullet(`**${met} of ${criteria.length} met**${waived > 0 ? `, ${waived} waived` : ''}`),
    ...(open.length === 0
      ? []
      : [
          bullet(
            `open: ${open
              .slice(0, listedMax.criteria)
              .map((id) => codeSpan(id, 60))
              .join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`,
          ),
        ]),
  ].join('\n');
}

function renderPlan(plan: PlanView): string {
  return [
    `## Plan of wave ${plan.wave}`,
    '',
    plainText(plan.summary, 500),
    '',
    ...(plan.expected === null ? [] : [describeExpected(plan.expected), '']),
    ...plan.delegations.slice(0, listedMax.delegations).map((d) => {
      const after = d.depends_on.map((id) => codeSpan(id, 60)).join(', ');
      const whole = `**${plainText(d.title, 80)}** · ${codeSpan(d.delegation_id, 60)} · ${describeExecutor(d)}`;
      return bullet(`${whole}${after === '' ? '' : `, after ${after}`}${describeGuard(d)}`);
    }),
  ].join('\n');
}

function describeGuard({ rule_of_two }: PlanView['delegations'][number]): string {
  if (rule_of_two === undefined) return '';
  return `. Each change needs your approval: it ${plainText(rule_of_two, 400)}`;
}

function renderWaves(waves: readonly WaveSummary[]): string {
  if (waves.length === 0) return '';
  const lines = waves.slice(-listedMax.waves).map((w) => {
    const ended = `${w.completed} completed, ${w.failed} failed, ${w.skipped} skipped`;
    const criteria = `${w.criteria_met} criteria met, ${w.criteria_open} open`;
    const changed = w.changed === undefined ? '' : ` · ${describeSize(w.changed)}`;
    return bullet(
      `**Wave ${w.wave}${w.io_status === null ? '' : `: ${w.io_status}`}** · ${ended} · ${criteria}${changed} · ${formatCost(w.usage)}`,
    );
  });
  return ['## Waves', '', ...lines].join('\n');
}

function renderRejected({ rejected, rejected_total, history_notice }: RunDetails): string {
  if (rejected.length === 0) return history_notice ?? '';
  const lines = rejected.slice(-listedMax.rejected).map((r) => bullet(plainText(r.reason, 300)));
  const left =
    rejected_total > lines.length ? `: the newest ${lines.length} of ${rejected_total}` : '';
  const title = `## Messages that were not taken${left}`;
  return [...(history_notice === undefined ? [] : [history_notice, '']), title, '', ...lines].join(
    '\n',
  );
}

export function renderDesignDetails({
  materials,
  plan,
}: {
  readonly materials: readonly DesignMaterial[];
  readonly plan: PlanOutline | null;
}): string {
  const stages = materials.map(
    ({ stage, subject }) =>
      `- ${nameStage(stage, subject === null ? null : plainText(subject, 80))}`,
  );
  const shape =
    plan === null
      ? 'The plan is not assembled yet.'
      : `Plan \`${plan.plan_ref.slice(0, 12)}\`: ${plan.tasks} tasks, ${plan.agents.length} agents, ${plan.proofs_of_concept} proofs of concept.`;
  return [shape, '', '**Stages done**', ...stages].join('\n');
}
