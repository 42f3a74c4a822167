import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  CarriedEvaluation,
  CellResult,
  EvaluationArgs,
  EvaluationResult,
  OpenCell,
  OpenedEvaluation,
} from '../../contracts/evaluation.ts';
import type { Spending } from '../../contracts/budget.ts';
import { memoKeys } from '../../contracts/names.ts';
import type { RunPhase, StatusView } from '../../contracts/views.ts';
import { addSpending, spendingOf } from '../../core/budget/spending.ts';
import { describeProgress, viewCells } from '../../core/evaluation/summary.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { openEvaluation } from '../shared/activities.ts';
import { isHistoryLong } from '../shared/history-length.ts';
import { statusQuery } from '../shared/messages.ts';
import { CellOrders } from './cell-orders.ts';
import { notStarted, placeCell, runCell } from './run-cell.ts';
import { limitsOf, shareOf, toSpending } from '../../core/evaluation/matrix.ts';

/**
 * Carries out goals under settings, each as a run of its own, and judges the answers. A cell that ran before is taken from
 * the store. A stop, a pause and its end are passed on to the open cells. Continues as new when its history is long and no cell is at work.
 *
 * @throws InvalidInput with every fault at once.
 */
export async function evaluation(args: EvaluationArgs): Promise<EvaluationResult> {
  let work: Evaluation | null = null;
  setHandler(statusQuery, () => work?.status() ?? viewIntake(args), {
    description: 'Cells, waits and usage.',
  });
  const carried = carriedBy(args) ?? (await open(args));
  showName(carried.evaluation.input.name);
  work = new Evaluation(carried);
  await work.run();
  return work.result();
}

/** Returns the carried state. Only the engine continues an evaluation; from a person the same field is bad input. */
function carriedBy(args: EvaluationArgs): CarriedEvaluation | null {
  const continued = workflowInfo().continuedFromExecutionRunId !== undefined;
  return continued && 'carried' in args ? args.carried : null;
}

async function open(input: EvaluationArgs): Promise<CarriedEvaluation> {
  const opened = await openEvaluation.executeWithOptions({ summary: 'list the cells' }, [
    { input },
  ]);
  if (opened.type === 'refused')
    throw ApplicationFailure.nonRetryable(opened.reason, 'InvalidInput');
  return { evaluation: opened.evaluation, usage: noUsage };
}

/**
 * Writes the name into the memo of an evaluation that was not started by our client, where clients without keys see whether
 * it is encrypted.
 */
function showName(name: string): void {
  const isShown = workflowInfo().memo?.[memoKeys.goal] !== undefined;
  if (!isShown) upsertMemo({ [memoKeys.goal]: name });
}

/** Returns the status before the cells are listed. */
function viewIntake(args: EvaluationArgs): StatusView {
  // The input is not checked yet.
  const name: unknown = 'name' in args ? args.name : '';
  return {
    run_id: workflowInfo().workflowId,
    goal: typeof name === 'string' ? name : '',
    phase: 'intake',
    wave: 0,
    waves_allowed: 0,
    waiting_for: [],
    open_questions: 0,
    usage: noUsage,
    paused_reason: null,
    parked_reason: null,
    wave_workflow_id: null,
    result_path: null,
  };
}

/** Evaluation at work: which cells are done, and what was spent. */
class Evaluation {
  readonly #opened: OpenedEvaluation;
  readonly #waiting: OpenCell[];
  readonly #done: CellResult[];
  /** Shares of the cells at work. */
  readonly #reserved = new Map<OpenCell, Spending>();
  readonly #orders = new CellOrders();
  #usage: CarriedEvaluation['usage'];
  #failure: unknown = null;

  constructor({ evaluation: opened, usage }: CarriedEvaluation) {
    this.#opened = opened;
    this.#waiting = [...opened.open];
    this.#done = [...opened.done];
    this.#usage = usage;
    this.#orders.watch(() => this.#show());
  }

  async run(): Promise<void> {
    try {
      await this.#startAll();
      await condition(() => this.#reserved.size === 0);
    } finally {
      // A cancelled evaluation waits for its runs, which are cancelled with it, and record what there is.
      await CancellationScope.nonCancellable(() => condition(() => this.#reserved.size === 0));
    }
    if (this.#failure !== null) throw this.#failure;
    this.#show();
  }

  async #startAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#show();
      // One place after the other becomes free.
      /* oxlint-disable no-await-in-loop */
      await condition(() => this.#hasRoom() || this.#isOver());
      if (this.#isOver()) break;
      if (!isHistoryLong()) this.#start();
      else await this.#continue();
      /* oxlint-enable no-await-in-loop */
    }
    const reason = this.#orders.stopReason();
    if (reason === null) return;
    for (const cell of this.#waiting.splice(0))
      this.#done.push(notStarted(this.#opened, cell, reason));
  }

  /** Returns true when no other cell is to start. */
  #isOver(): boolean {
    return this.#failure !== null || this.#orders.stopReason() !== null;
  }

  result(): EvaluationResult {
    return {
      evaluation_id: workflowInfo().workflowId,
      name: this.#opened.input.name,
      cells: this.#done.toSorted((a, b) => a.cell - b.cell),
      usage: this.#usage,
    };
  }

  /** Returns false also while cells at work may leave something for the next. */
  #hasRoom(): boolean {
    if (this.#orders.pausedReason() !== null) return false;
    if (this.#reserved.size === 0) return true;
    return this.#reserved.size < this.#opened.input.parallel && this.#share() !== null;
  }

  #share(): ReturnType<typeof shareOf> {
    return shareOf({
      limits: limitsOf(this.#opened.input),
      spent: spendingOf(this.#usage),
      reserved: addSpending(...this.#reserved.values()),
      left: this.#waiting.length,
    });
  }

  /** Starts the next cell, or leaves it out when nothing is left for it. */
  #start(): void {
    const share = this.#share();
    const cell = this.#waiting.shift();
    if (cell === undefined) return;
    if (share === null) {
      this.#done.push(notStarted(this.#opened, cell, null));
      return;
    }
    this.#reserved.set(cell, toSpending(share));
    this.#show();
    void this.#finish(cell, runCell(this.#opened, cell, { share, orders: this.#orders }));
  }

  async #finish(cell: OpenCell, running: Promise<CellResult>): Promise<void> {
    try {
      const result = await running;
      this.#done.push(result);
      this.#usage = addUsage(this.#usage, result.usage);
    } catch (error) {
      this.#failure ??= error;
      this.#orders.fail();
    } finally {
      this.#reserved.delete(cell);
      this.#show();
    }
  }

  /** Returns when the evaluation was stopped or paused meanwhile, and when a cell has failed. */
  async #continue(): Promise<void> {
    await condition(() => this.#reserved.size === 0);
    if (this.#isOver() || this.#orders.pausedReason() !== null) return;
    await continueAsNew<(args: EvaluationArgs) => Promise<unknown>>({
      carried: {
        evaluation: { ...this.#opened, open: this.#waiting, done: this.#done },
        usage: this.#usage,
      },
    });
  }

  status(): StatusView & Required<Pick<StatusView, 'evaluation'>> {
    const { input } = this.#opened;
    const paused = this.#orders.pausedReason();
    const parked = this.#orders.parkedReason();
    return {
      ...viewIntake(input),
      phase: this.#phase(),
      waiting_for: [
        ...(paused === null ? [] : [`paused${paused === '' ? '' : `: ${paused}`}`]),
        ...(parked === null ? [] : [`parked: ${parked}`]),
      ],
      usage: this.#usage,
      paused_reason: paused,
      parked_reason: parked,
      evaluation: viewCells({
        waiting: this.#waiting.length,
        at_work: [...this.#reserved.keys()].map((cell) => placeCell(this.#opened, cell)),
        done: this.#done,
      }),
    };
  }

  #phase(): RunPhase {
    const isAtWork = this.#reserved.size > 0;
    if (this.#orders.stopReason() !== null) return isAtWork ? 'ending' : 'stopped';
    if (this.#failure !== null) return isAtWork ? 'ending' : 'failed';
    if (!isAtWork && this.#waiting.length === 0) return 'completed';
    return this.#orders.pausedReason() === null ? 'working' : 'paused';
  }

  #show(): void {
    setCurrentDetails(describeProgress(this.status(), this.#done));
  }
}
