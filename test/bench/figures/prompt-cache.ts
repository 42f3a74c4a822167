import { workflowTypes } from '../../../contracts/names.ts';
import type { PlannerWaveInput, WaveResult } from '../../../contracts/planner-wave.ts';
import { type JsonObject, readMessagesRequest } from '../../../rehearsal/messages-api.ts';
import { createPromptCache } from '../../../rehearsal/replies/accounting.ts';
import { work } from '../../support/scripted-work.ts';
import { composeText, gatherId, writeJob } from '../bench-job.ts';
import type { BenchStage } from '../bench-stage.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatNumber, formatSummary } from '../format.ts';
import {
  fullHistory,
  fullHistoryUncached,
  roleFirst,
  withoutBreakpoints,
} from '../prompt-variants.ts';
import type { SentCall, Variant } from '../prompt-variants.ts';
import { summarise } from '../statistics.ts';

/** One of them works first, the others load what it wrote. */
const crew = ['researcher', 'writer', 'analyst', 'engineer', 'reviewer', 'researcher'];
const turns = 4;
/** Characters of the goal: what a user hands over, or what the waves before have found out. */
const goalChars = 16_000;

/** Price of a cached token relative to plain input. */
const writePrice = 1.25;
const readPrice = 0.1;

const plainMax = 0.4;
const historyMax = 0.5;

interface Counted {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
}

export const promptCache: Figure = {
  name: 'cache',
  about: 'billed input of a wave of 6 against the same wave laid out otherwise',
  measure: ({ rounds, say, withStage }) =>
    withStage(async (stage) => {
      await stage.model.keepBodies();
      const plain = createBiller(withoutBreakpoints);
      const byRole = createBiller(roleFirst);
      const inChat = createBiller(fullHistory);
      const inChatUncached = createBiller(fullHistoryUncached);
      const waves: Measured[] = [];
      for (let round = 1; round <= rounds; round += 1) {
        say(`wave ${round} …`);
        // One wave after the other.
        // oxlint-disable-next-line no-await-in-loop
        const { billed, calls } = await runWave(stage, round);
        waves.push({
          billed,
          plain: plain(calls),
          byRole: byRole(calls),
          inChat: inChat(calls),
          inChatUncached: inChatUncached(calls),
        });
      }
      return toRows(waves);
    }),
};

/** Price-weighted input tokens of one wave's delegations. */
interface Measured {
  readonly billed: number;
  readonly plain: number;
  readonly byRole: number;
  readonly inChat: number;
  readonly inChatUncached: number;
}

async function runWave(
  stage: BenchStage,
  round: number,
): Promise<{ billed: number; calls: SentCall[] }> {
  const result: WaveResult = await stage.client.workflow.execute(workflowTypes.plannerWave, {
    taskQueue: stage.taskQueue,
    workflowId: `cache-${round}`,
    args: [composeInput(round)],
  });
  const { arrivals } = await stage.model.read();
  const calls = arrivals.flatMap(({ callKey, body }): SentCall[] => {
    if (body === null || !callKey.includes('/agent_output/')) return [];
    return [{ conversation: callKey.slice(0, callKey.lastIndexOf('/')), body }];
  });
  const expected = 1 + (crew.length - 1) * turns;
  if (result.outcomes.some(({ status }) => status !== 'completed') || calls.length !== expected) {
    throw new Error(`The wave made ${calls.length} calls instead of ${expected}, or failed.`);
  }
  return { billed: sum(result.outcomes.map(({ usage }) => weigh(usage))), calls };
}

function composeInput(round: number): PlannerWaveInput {
  const [first = '', ...others] = crew;
  const decision = writeJob({ id: 'goal', turns: 1, by: 'pause', delayMs: 0 });
  return {
    goal: `Measure. ${decision}\n${composeText(`goal ${round}`, goalChars)}`,
    delegations: [
      work(gatherId, { agent_id: first, task_description: describeTask(gatherId, 1) }),
      ...others.map((agent_id, at) =>
        work(`d${at + 1}`, {
          agent_id,
          task_description: describeTask(`d${at + 1}`, turns),
          depends_on: [gatherId],
          required_inputs: [gatherId],
        }),
      ),
    ],
    limits: { max_parallel: crew.length },
  };
}

function describeTask(id: string, count: number): string {
  return `Do it. ${writeJob({ id, turns: count, by: 'tool', delayMs: 0 })}`;
}

/** Bills the calls of wave after wave as they would be in another layout, by the model server's own accounting. */
function createBiller(variant: Variant): (calls: readonly SentCall[]) => number {
  const cache = createPromptCache();
  return (calls) =>
    sum(
      variant(calls).map((body) => {
        const { usage, begin } = cache.account(toRequest(body));
        // At once, which flatters the other layout: in truth siblings come before the first reply begins.
        begin();
        return weigh(usage);
      }),
    );
}

function toRequest(body: JsonObject) {
  const request = readMessagesRequest(JSON.stringify(body), false);
  if (typeof request === 'string') throw new Error(request);
  return request;
}

function weigh(counted: Counted): number {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = counted;
  return (
    input_tokens + cache_creation_input_tokens * writePrice + cache_read_input_tokens * readPrice
  );
}

function toRows(waves: readonly Measured[]): FigureRow[] {
  const billed = summarise(waves.map((wave) => wave.billed));
  const row = (
    figure: string,
    max: number,
    of: (wave: Measured) => number,
    notes: string,
  ): FigureRow => {
    const others = summarise(waves.map(of));
    const ratio = summarise(waves.map((wave) => wave.billed / of(wave)));
    return {
      figure: `billed input of a wave of 6 against ${figure}`,
      target: `≤ ${max} ×`,
      measured: `${formatSummary(ratio, '×')}: ${formatNumber(billed.median)} instead of ${formatNumber(others.median)} tokens`,
      floor: '',
      reached: ratio.median <= max,
      notes,
      numbers: { ratio, billed_tokens: billed, other_tokens: others },
    };
  };
  const against = (of: (wave: Measured) => number): string =>
    formatSummary(summarise(waves.map((wave) => wave.billed / of(wave))), '×');
  return [
    row(
      'the same wave without the layout',
      plainMax,
      (wave) => wave.plain,
      `The same bytes without breakpoints. Against roles in the system prompt, with breakpoints after rules, role and conversation: ${against(({ byRole }) => byRole)}.`,
    ),
    row(
      'the full history for every agent, cached as well as it can be',
      historyMax,
      (wave) => wave.inChat,
      `Role and all that was said so far in every conversation, but for the final outputs; breakpoints after rules, role and history. Without breakpoints: ${against(({ inChatUncached }) => inChatUncached)}.`,
    ),
  ];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
