import { workflowTypes } from '../../../contracts/names.ts';
import { eventually } from '../../support/eventually.ts';
import { submit } from '../../support/asking.ts';
import { writeJob } from '../bench-job.ts';
import type { BenchStage } from '../bench-stage.ts';
import type { Figure, FigureContext, FigureRow } from '../figure.ts';
import { formatMegabytes, formatNumber, formatSummary } from '../format.ts';
import { readMemory } from '../process-usage.ts';
import type { MemoryReading } from '../process-usage.ts';
import { summarise } from '../statistics.ts';
import type { Summary } from '../statistics.ts';

/** How many runs wait, and how much memory one worker may hold for them, in bytes. */
const levels = [
  { count: 300, bytesMax: 500_000_000 },
  { count: 1_000, bytesMax: 1_200_000_000 },
] as const;
const answerMsMax = 1_000;

/** Answers that are timed at each level. */
const answers = 20;

/** Runs that are being started at the same time. */
const startsAtOnce = 20;

/** Runs between two lines about how far it is. */
const sayEvery = 100;

/** A bound for a measurement that hangs. */
const waitMs = 3_600_000;

export const waitingRuns: Figure = {
  name: 'waiting',
  about: '300 and 1,000 runs that wait on a question: memory of the worker, time to answer one',
  measure: (context) =>
    context.withStage(async (stage) => {
      const idle = await readMemory(stage.workerPid);
      const rows: FigureRow[] = [];
      const runs: Runs = { started: 0, answered: new Set() };
      for (const { count: promised, bytesMax } of levels) {
        const count = context.sizeOf(promised);
        // Each level grows out of the one before it, less the runs that were answered.
        // oxlint-disable-next-line no-await-in-loop
        await letWait(stage, runs, count, context.say);
        // oxlint-disable-next-line no-await-in-loop
        const memory = await readMemory(stage.workerPid);
        // oxlint-disable-next-line no-await-in-loop
        const times = await answerSome(stage, runs, context.sizeOf(answers));
        rows.push(memoryRow(count, bytesMax, idle, memory), ...answerRows(count, times));
      }
      return rows;
    }),
};

function runId(nth: number): string {
  return `waiting-${nth}`;
}

/** The runs of a stage, numbered from 1. */
interface Runs {
  started: number;
  readonly answered: Set<number>;
}

/** Starts runs until so many wait, and waits until they do. */
async function letWait(
  stage: BenchStage,
  runs: Runs,
  count: number,
  say: FigureContext['say'],
): Promise<void> {
  let sayAt = 0;
  await eventually(
    `${count} waiting runs`,
    async () => {
      const waiting = await countWaiting(stage);
      const open = runs.started - runs.answered.size;
      const room = Math.min(count - open, startsAtOnce - (open - waiting));
      if (waiting >= sayAt) {
        say(`${waiting} of ${count} runs wait …`);
        sayAt = waiting + sayEvery;
      }
      for (let nth = 0; nth < room; nth += 1) {
        runs.started += 1;
        // oxlint-disable-next-line no-await-in-loop
        await startRun(stage, runId(runs.started));
      }
      return waiting >= count;
    },
    waitMs,
  );
}

async function startRun({ client, taskQueue }: BenchStage, workflowId: string): Promise<void> {
  const goal = `Measure. ${writeJob({ id: 'goal', turns: 1, by: 'pause', delayMs: 0 })}`;
  await client.workflow.start(workflowTypes.plannerRun, {
    taskQueue,
    workflowId,
    args: [{ goal }],
  });
}

async function countWaiting({ client }: BenchStage): Promise<number> {
  const { count } = await client.workflow.count(
    `WorkflowType = '${workflowTypes.plannerRun}' AND ExecutionStatus = 'Running' AND PlanwaveOpenQuestions > 0`,
  );
  return count;
}

interface AnswerTimes {
  /** From the answer to the word that it was taken. */
  readonly takenMs: Summary;
  /** From the answer to the next model call of the agent that asked. */
  readonly calledMs: Summary;
}

/** Answers runs from the oldest to the newest, one after the other: the oldest may have left the worker's cache. */
async function answerSome(stage: BenchStage, runs: Runs, count: number): Promise<AnswerTimes> {
  const waiting = Array.from({ length: runs.started }, (_, index) => index + 1).filter(
    (nth) => !runs.answered.has(nth),
  );
  const taken: number[] = [];
  const called: number[] = [];
  for (const nth of waiting.filter(
    (_, index) => index % Math.floor(waiting.length / count) === 0,
  )) {
    runs.answered.add(nth);
    const workflowId = runId(nth);
    // oxlint-disable-next-line no-await-in-loop
    await stage.model.read();
    const sentAt = Date.now();
    // oxlint-disable-next-line no-await-in-loop
    await submit(stage.client.workflow.getHandle(workflowId), {
      question_id: 'q1',
      answer: 'The first one.',
    });
    taken.push(Date.now() - sentAt);
    // oxlint-disable-next-line no-await-in-loop
    const { atMs } = await eventually('the next model call', async () => {
      const { arrivals } = await stage.model.read();
      return arrivals.find(({ callKey }) => callKey.startsWith(`${workflowId}/`));
    });
    called.push(atMs - sentAt);
  }
  return { takenMs: summarise(taken), calledMs: summarise(called) };
}

function memoryRow(
  runs: number,
  bytesMax: number,
  idle: MemoryReading | null,
  memory: MemoryReading | null,
): FigureRow {
  const common = {
    figure: `${formatNumber(runs)} runs wait on a question: memory of the worker`,
    target: `< ${formatMegabytes(bytesMax)}`,
    floor: '',
  };
  if (idle === null || memory === null) {
    const measured = 'not measured: this system has no /proc';
    return { ...common, measured, reached: null, notes: '', numbers: {} };
  }
  const [atFirst, atMost] = [idle.rssBytes, memory.peakBytes].map(formatMegabytes);
  return {
    ...common,
    measured: formatMegabytes(memory.rssBytes),
    reached: memory.rssBytes < bytesMax,
    notes: `Each run is a plannerRun and a plannerWave. Before the first run: ${atFirst}; at most ${atMost}.`,
    numbers: {
      idle_bytes: idle.rssBytes,
      rss_bytes: memory.rssBytes,
      peak_bytes: memory.peakBytes,
    },
  };
}

function answerRows(runs: number, { takenMs, calledMs }: AnswerTimes): FigureRow[] {
  const row = (what: string, times: Summary): FigureRow => ({
    figure: `${formatNumber(runs)} runs wait on a question: from an answer to ${what}`,
    target: `< ${formatNumber(answerMsMax)} ms`,
    measured: formatSummary(times, 'ms'),
    floor: '',
    reached: times.median < answerMsMax,
    notes: `${times.n} runs, from the oldest to the newest, by the update submitAnswer.`,
    numbers: { ms: times },
  });
  return [row('the word that it was taken', takenMs), row('the next model call', calledMs)];
}
