import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@temporalio/client';
import type { RunRecord } from '../../../contracts/run-record.ts';
import { waveWorkflowId } from '../../../core/ids.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { askingWave, deepScript, essenceOf } from '../../support/deep-run.ts';
import type { DeepRun } from '../../support/deep-run.ts';
import { startOwnServer } from '../../support/own-server.ts';
import { openStage } from '../../support/stage.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { killProcesses, runScript, stageEnvironment } from '../../support/worker-process.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatNumber, formatSummary } from '../format.ts';
import { summarise } from '../statistics.ts';
import type { Summary } from '../statistics.ts';

const promised: DeepRun = { waves: 40, width: 15 };
const ratioMax = 1.2;

/** Waves at each end that are compared: one alone may meet another process's work. */
const compared = 5;

/** Small enough that every wave makes the run continue as new. */
const shortHistories = ['--dynamic-config-value=limit.historyCount.suggestContinueAsNew=20'];

/** Large enough that only the engine's own limit of a history's length does. */
const longHistories = [
  '--dynamic-config-value=limit.historyCount.suggestContinueAsNew=50000',
  '--dynamic-config-value=limit.historySize.suggestContinueAsNew=50000000',
];

const runId = 'deep';

interface Measured {
  readonly record: RunRecord;
  /** Milliseconds per delegation, one entry for each wave. */
  readonly engineMs: readonly number[];
  /** Runs of the workflow that the run was made of. */
  readonly parts: number;
}

export const deepRun: Figure = {
  name: 'deep',
  about: 'a run of 40 waves with 600 delegations: engine ms a delegation, first against last waves',
  async measure({ sizeOf, say }) {
    // A trial needs a wave to ask in and a neighbour to build on as well.
    const deep: DeepRun = {
      waves: Math.max(sizeOf(promised.waves), 4),
      width: Math.max(sizeOf(promised.width), 2),
    };
    say('a run that continues as new after each wave …');
    const parts = await measureRun(deep, shortHistories);
    say('the same run in long parts …');
    const whole = await measureRun(deep, longHistories);
    return toRows(deep, parts, whole);
  },
};

async function measureRun(deep: DeepRun, serverArguments: readonly string[]): Promise<Measured> {
  const server = await startOwnServer(serverArguments);
  const options = { address: server.address, thinkMs: 0, opensWithWorker: false };
  const stage = await openStage(options);
  try {
    await runScript(['worker'], stageEnvironment(stage)).printed('The worker polls');
    stage.rehearsal.script(deepScript(deep));
    const run = await stage.start(
      'plannerRun',
      {
        goal: 'Go deep',
        criteria: ['The last step is done'],
        limits: { max_waves: deep.waves, max_parallel: deep.width },
        budget: { calls: 10_000, tokens: 1_000_000_000 },
      },
      runId,
    );
    await openQuestion(stage, run);
    await submit(run, { question_id: 'q1', answer: 'Europe' });
    await stage.result(run);
    return {
      record: await storedRecord(stage.home, runId),
      engineMs: await readWaveTimes(stage.client, deep),
      parts: await countParts(stage.client),
    };
  } finally {
    await killProcesses();
    await stage.close();
    await server.stop();
  }
}

/** Without the wave that waited for the user. */
async function readWaveTimes(client: Client, { waves, width }: DeepRun): Promise<number[]> {
  const numbers = Array.from({ length: waves }, (_, index) => index + 1);
  const times = await Promise.all(
    numbers
      .filter((wave) => wave !== askingWave)
      .map(async (wave) => {
        const { startTime, closeTime } = await client.workflow
          .getHandle(waveWorkflowId(runId, wave))
          .describe();
        if (closeTime === undefined) throw new Error(`Wave ${wave} has not ended.`);
        return (closeTime.getTime() - startTime.getTime()) / width;
      }),
  );
  return times;
}

async function countParts(client: Client): Promise<number> {
  const { count } = await client.workflow.count(`WorkflowId = '${runId}'`);
  return count;
}

function toRows(deep: DeepRun, parts: Measured, whole: Measured): FigureRow[] {
  const size = `${formatNumber(deep.waves)} waves with ${formatNumber(deep.waves * deep.width)} delegations`;
  const ends = (times: readonly number[]): readonly [Summary, Summary] => [
    summarise(times.slice(0, compared)),
    summarise(times.slice(-compared)),
  ];
  const [first, last] = ends(parts.engineMs);
  const ratio = last.median / first.median;
  const isEqual = isDeepStrictEqual(essenceOf(parts.record), essenceOf(whole.record));
  return [
    {
      figure: `a run of ${size}: engine time of a delegation in the last waves against the first`,
      target: `≤ ${ratioMax} ×`,
      measured: `${formatNumber(ratio)} ×: ${formatSummary(last, 'ms')} against ${formatSummary(first, 'ms')}`,
      floor: '',
      reached: ratio <= ratioMax,
      notes: `The run continued as new ${parts.parts - 1} times. ${compared} waves at each end.`,
      numbers: { first_ms: first, last_ms: last, ratio, parts: parts.parts },
    },
    {
      figure: `a run of ${size}: pool, answers, criteria and outcomes against the same run in long parts`,
      target: 'equal',
      measured: isEqual ? 'equal' : 'different',
      floor: '',
      reached: isEqual && parts.parts > deep.waves / 2 && whole.parts * 4 < parts.parts,
      notes: `${parts.record.facts.length} facts, ${parts.record.details.length} details.`,
      numbers: { parts: parts.parts, whole_parts: whole.parts },
    },
  ];
}
