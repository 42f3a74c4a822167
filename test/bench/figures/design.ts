import { tsToMs } from '@temporalio/common/lib/time.js';
import type { DesignStageName } from '../../../contracts/names.ts';
import type { Usage } from '../../../contracts/usage.ts';
import { designWorkflowId, riskWorkflowId } from '../../../core/ids.ts';
import { formatDollars } from '../../../core/text/format.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { startOwnServer } from '../../support/own-server.ts';
import { playDesign, readPlayedDesign } from '../../support/played/played-design.ts';
import { designOfTasks, readStage } from '../../support/scripted-design.ts';
import { provideBundle } from '../../support/shared-server.ts';
import { openStage } from '../../support/stage.ts';
import type { Stage } from '../../support/stage.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatNumber, formatSummary } from '../format.ts';
import { readHistorySize } from '../history-size.ts';
import { summarise } from '../statistics.ts';

const goal = 'Compare three ways to store a backup';
const model = 'claude-sonnet-5-5';
/** Nobody is asked. */
const alone = { use_defaults: true, auto_approve: true, limits: { max_parallel: 4 } };

const ratioMax = 1.1;
const tasks = 30;
const historyBytesMax = 200 * 1024;
/** Rounds of a measurement that waits for the model take this share. */
const slowShare = 5;

/** Milliseconds of each stage that works beside others. */
const specialistsMs = { file_structure: 1_000, checkpoints: 600, instructions: 1_500 } as const;
const assessorsMs = { research: 1_500, consultation: 1_000 } as const;

export const design: Figure = {
  name: 'design',
  about:
    'a design: parallel stages against their critical path, history, tokens beside a direct run',
  async measure({ rounds, sizeOf, say }) {
    const forgetBundle = await provideBundle();
    const server = await startOwnServer();
    const settings = { isRehearsal: false, defaultModel: model };
    const stage = await openStage({ address: server.address, thinkMs: 0, settings });
    try {
      say('parallel stages …');
      const parallel = await measureParallel(stage, Math.ceil(rounds / slowShare), sizeOf);
      say(`a design of ${tasks} tasks …`);
      const history = await measureHistory(stage, sizeOf(tasks));
      say('the same goal direct and designed …');
      return [...parallel, history, ...(await measureUsage(stage))];
    } finally {
      await stage.close();
      await server.stop();
      forgetBundle();
    }
  },
};

async function measureParallel(
  stage: Stage,
  rounds: number,
  sizeOf: (promised: number) => number,
): Promise<FigureRow[]> {
  const delays: Readonly<Record<string, number>> = { ...specialistsMs, ...assessorsMs };
  stage.rehearsal.script([
    {
      reply: (request) => ({
        json: request.defaultOutput(),
        delayMs: sizeOf(delays[readStage(request)?.stage ?? ''] ?? 0),
      }),
    },
  ]);
  const specialists: number[] = [];
  const assessors: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const id = `parallel-${round}`;
    // One after the other: they would measure each other.
    // oxlint-disable-next-line no-await-in-loop
    await runDesigned(stage, id, { research_max_age_days: 0 });
    const designId = designWorkflowId(id);
    const risk = riskWorkflowId(designId);
    // oxlint-disable-next-line no-await-in-loop
    specialists.push(await measureRatio(stage, designId, specialistsMs, sizeOf));
    // oxlint-disable-next-line no-await-in-loop
    assessors.push(await measureRatio(stage, risk, assessorsMs, sizeOf));
  }
  stage.rehearsal.reset();
  return [
    toRatioRow('three specialists of a design that work at the same time', specialists),
    toRatioRow('research and three consultations that work at the same time', assessors),
  ];
}

async function runDesigned(stage: Stage, id: string, more: object): Promise<Usage> {
  const run = await stage.start('plannerRun', { goal, mode: 'designed', ...alone, ...more }, id);
  return (await stage.result(run)).usage;
}

/** @returns time from the first call of these stages to the end of the last, divided by that of the longest call. */
async function measureRatio(
  { client }: Stage,
  workflowId: string,
  delaysMs: Partial<Readonly<Record<DesignStageName, number>>>,
  sizeOf: (promised: number) => number,
): Promise<number> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const names = Object.keys(delaysMs);
  const calls = new Set<string>();
  const times = (events ?? []).flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const input = Buffer.from(scheduled?.input?.payloads?.[0]?.data ?? []);
    // Only model calls name a stage.
    const isStart = names.some((name) => input.includes(`"stage":"${name}"`));
    if (isStart) calls.add(String(event.eventId));
    const ended = event.activityTaskCompletedEventAttributes;
    const isEnd = calls.has(String(ended?.scheduledEventId));
    return isStart || isEnd ? [tsToMs(event.eventTime)] : [];
  });
  const { min, max } = summarise(times);
  return (max - min) / sizeOf(Math.max(...Object.values(delaysMs)));
}

function toRatioRow(figure: string, ratios: readonly number[]): FigureRow {
  const ratio = summarise(ratios);
  return {
    figure: `${figure}, against their critical path`,
    target: `≤ ${ratioMax} ×`,
    measured: formatSummary(ratio, '×'),
    floor: '',
    reached: ratio.median <= ratioMax,
    notes: 'From the first call to the end of the last, by history; calls of 600 to 1,500 ms.',
    numbers: { ratio },
  };
}

async function measureHistory(stage: Stage, count: number): Promise<FigureRow> {
  stage.rehearsal.script([{ reply: designOfTasks(count) }]);
  const input = { goal: `${goal} [flawed]`, ...alone };
  const run = await stage.start('architectureDesign', input, 'history');
  await run.result();
  stage.rehearsal.reset();
  const { bytes, events } = await readHistorySize(stage.client, 'history');
  return {
    figure: `history of a design of ${count} tasks`,
    target: `≤ ${formatNumber(historyBytesMax)} bytes`,
    measured: `${formatNumber(bytes)} bytes in ${events} events`,
    floor: '',
    reached: bytes <= historyBytesMax,
    notes: 'With its risk assessment, one finding and its repair.',
    numbers: { bytes, events },
  };
}

async function measureUsage(stage: Stage): Promise<FigureRow[]> {
  const direct = await stage.start('plannerRun', { goal, ...alone }, 'direct');
  const directUse = (await stage.result(direct)).usage;
  const designedUse = await runDesigned(stage, 'designed', { research_max_age_days: 0 });
  const played = await runPlayedDesign(stage);
  const factor = countTokens(designedUse) / countTokens(directUse);
  return [
    toUsageRow('a direct run of one goal', directUse, 'Rehearsal model: short replies.'),
    toUsageRow(
      'a designed run of the same goal',
      designedUse,
      `Rehearsal model: ${formatNumber(factor)} × the tokens of the direct run.`,
    ),
    toUsageRow('a design that was played by hand', played, 'Without the work on its plan.'),
  ];
}

async function runPlayedDesign(stage: Stage): Promise<Usage> {
  const played = readPlayedDesign('postgres-move');
  stage.rehearsal.script([{ reply: playDesign(played).reply }]);
  const input = { goal: played.goal, research_max_age_days: 0 };
  const run = await stage.start('architectureDesign', input, 'played');
  for (const [question_id, answer] of Object.entries(played.answers)) {
    // Sequential, like the answers of a person.
    // oxlint-disable-next-line no-await-in-loop
    await openQuestion(stage, run, question_id);
    // oxlint-disable-next-line no-await-in-loop
    await submit(run, { question_id, answer });
  }
  const { usage }: { readonly usage: Usage } = await run.result();
  return usage;
}

function toUsageRow(figure: string, usage: Usage, notes: string): FigureRow {
  const { calls, output_tokens, cost_micro_usd } = usage;
  const tokens = countTokens(usage);
  return {
    figure: `use of ${figure}`,
    target: '',
    measured: `${calls} calls, ${formatNumber(tokens)} tokens, of them ${formatNumber(output_tokens)} output, ${formatDollars(cost_micro_usd)}`,
    floor: '',
    reached: null,
    notes: `${notes} Prices of ${model}.`,
    numbers: { calls, tokens, output_tokens, cost_micro_usd },
  };
}

function countTokens(usage: Usage): number {
  return (
    usage.input_tokens +
    usage.cache_creation_input_tokens +
    usage.cache_read_input_tokens +
    usage.output_tokens
  );
}
