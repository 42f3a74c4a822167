import { resolveModelName } from '../../../activities/adapters/agent-file/parse-agent-file.ts';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { computeWorst } from '../../../activities/adapters/anthropic/build-params.ts';
import { computeUsage } from '../../../activities/adapters/prices.ts';
import { createAgentTurnActivities } from '../../../activities/agent-turn/create-agent-turn-activities.ts';
import type { AgentTurnDeps } from '../../../activities/agent-turn/deps.ts';
import { PrefixGate } from '../../../activities/agent-turn/prefix-gate.ts';
import { loadDetail } from '../../../activities/tools/registry/load-detail.ts';
import { createToolRegistry } from '../../../activities/tools/registry/create-registry.ts';
import type { Activities } from '../../../contracts/activity-types.ts';
import type { AgentDefinition } from '../../../contracts/agent-definition.ts';
import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { Delegation } from '../../../contracts/delegation.ts';
import type { ModelTurnInput, ModelTurnResult } from '../../../contracts/model-turn.ts';
import type { ToolRead, TranscriptNode } from '../../../contracts/transcript.ts';
import type { Ref } from '../../../contracts/ref.ts';
import type { RunRecord } from '../../../contracts/run-record.ts';
import type { NamedTeam } from '../../../contracts/team.ts';
import { restoreUsage } from '../../../core/turns/turn-call.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import {
  agentOutput,
  coverageOf,
  plannedDelegation,
  waveDecision,
  wavePlan,
} from '../../support/factories.ts';
import { createMemoryEffects } from '../../support/memory-effects.ts';
import type { MemoryEffects } from '../../support/memory-effects.ts';
import { createMemoryLedger } from '../../support/memory-ledger.ts';
import type { MemoryLedger } from '../../support/memory-ledger.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import type { MemoryStore } from '../../support/memory-store.ts';
import { registryOf } from '../../support/registry-of.ts';
import { createScriptedModel } from '../../support/scripted-model.ts';
import type { Script, ScriptedModel } from '../../support/scripted-model.ts';
import { writeDelegation } from '../../../core/executor.ts';
import type { WaveDecision, WavePlan, WrittenPlan } from '../../../contracts/wave-plan.ts';

type Turns = Pick<Activities, 'modelTurn' | 'recallRunSpent' | 'runTool' | 'storeText'>;

/** A store with a run in it, and the activities on top. */
export interface Bench {
  readonly store: MemoryStore;
  readonly ledger: MemoryLedger;
  readonly effects: MemoryEffects;
  readonly model: ScriptedModel;
  readonly activities: Turns;
  readonly registry_ref: Ref;
  readonly record_ref: Ref;
  readonly plan_ref: Ref;
  /** A new activity, as Temporal would run it: attempt 1 unless told otherwise. */
  env(attempt?: number, activityId?: string): MockActivityEnvironment;
  turn(input?: Partial<ModelTurnInput>, attempt?: number): Promise<ModelTurnResult>;
  input(input?: Partial<ModelTurnInput>): ModelTurnInput;
  node(ref: Ref): Promise<TranscriptNode>;
  /**
   * Has a tool called that changes nothing, by a reply that an earlier attempt left in the ledger.
   *
   * @param env of a later attempt.
   */
  read(
    call: { readonly name: string; readonly input: unknown },
    changes?: Partial<ModelTurnInput>,
    env?: MockActivityEnvironment,
  ): Promise<ToolRead & { readonly text: string }>;
}

/** Runs one activity in its environment, with its types. */
export function runIn<I, O>(
  env: MockActivityEnvironment,
  activity: (input: I) => Promise<O>,
  input: I,
): Promise<O> {
  return env.run<[I], O, (input: I) => Promise<O>>(activity, input);
}

export interface BenchOptions {
  readonly scripts?: readonly Script[];
  readonly record?: Partial<RunRecord>;
  readonly deps?: Partial<AgentTurnDeps>;
  readonly plan?: WavePlan;
  /** Teams with a name. Default: none. */
  readonly teams?: readonly NamedTeam[];
}

export async function createBench(options: BenchOptions = {}): Promise<Bench> {
  const store = createMemoryStore();
  const ledger = createMemoryLedger(store.artifacts);
  const effects = createMemoryEffects();
  const model = createScriptedModel(options.scripts ?? []);
  const putJson = (value: unknown): Promise<Ref> => store.put(JSON.stringify(value));
  const registry_ref = await store.put(registryOf(agents, options.teams));
  const record_ref = await putJson({ ...recordOf(registry_ref), ...options.record });
  const plan_ref = await putJson(options.plan ?? plan);
  const activities = createAgentTurnActivities({
    model,
    store,
    ledger,
    effects,
    tools: createToolRegistry([loadDetail]),
    prefixGate: new PrefixGate(),
    worktrees: { listTouched: () => Promise.resolve(null) },
    resolveModel: resolveModelName,
    defaultModel: 'rehearsal',
    computeUsage,
    computeWorst,
    retryBaseMs: 8,
    heartbeatEveryMs: 5,
    ...options.deps,
  });
  let activityNumber = 0;
  const env = (attempt = 1, activityId = `a${(activityNumber += 1)}`): MockActivityEnvironment =>
    new MockActivityEnvironment(
      { attempt, activityId, scheduledTimestampMs: Date.now() },
      { logger: new DefaultLogger('ERROR') },
    );
  const input = (changes: Partial<ModelTurnInput> = {}): ModelTurnInput => ({
    run_id: 'my-run',
    agent_id: 'writer',
    registry_ref,
    head: null,
    append: [
      {
        type: 'prompt',
        prompt: {
          kind: 'delegation',
          record_ref,
          plan_ref,
          delegation_id: 'write-report',
          upstream: [],
        },
      },
    ],
    stage: 'delegation',
    max_output_tokens: 1_000,
    allowance: null,
    compact: false,
    ...changes,
  });
  const read: Bench['read'] = async ({ name, input: args }, changes = {}, at = env(2)) => {
    const call = { tool_use_id: 't1', name, input_ref: await putJson(args) };
    const { workflowExecution, activityRunId = '', activityId } = at.context.info;
    const { workflowId = '', runId = activityRunId } = workflowExecution ?? {};
    const key = { workflow_id: workflowId, run_id: runId, activity_id: activityId };
    const reply = { type: 'tools', calls: [call] };
    const result = { head: record_ref, reply, usage: noUsage, request_id: null, model: 'm' };
    await ledger.put(key, 1, { version: 1, result, spent: noUsage });
    const reading = { record_ref, upstream: [], loads_left: 10, acts: true };
    const turn = await runIn(at, activities.modelTurn, input({ reading, ...changes }));
    const made = turn.reply.type === 'tools' ? turn.reply.calls[0] : undefined;
    if (made === undefined || !('read' in made) || made.read === undefined) {
      throw new Error('The call was not made.');
    }
    return { ...made.read, text: await store.getText(made.read.result_ref) };
  };
  return {
    read,
    store,
    ledger,
    effects,
    model,
    activities,
    registry_ref,
    record_ref,
    plan_ref,
    env,
    input,
    turn: async (changes, attempt) => {
      const answer = await runIn(env(attempt), activities.modelTurn, input(changes));
      return { ...answer, usage: restoreUsage(answer.usage) };
    },
    node: async (ref) => {
      const node: TranscriptNode = JSON.parse(await store.getText(ref));
      return node;
    },
  };
}

const agentOf = (agent_id: string, changes: Partial<AgentDefinition> = {}): AgentDefinition => ({
  agent_id,
  description: `Does the work of a ${agent_id}.`,
  capabilities: [agent_id],
  allowed_tools: ['load_detail'],
  risk_level: 'low',
  model: null,
  prompt: `You are a ${agent_id}.`,
  ...changes,
});

export const agents: readonly AgentDefinition[] = [
  agentOf('planner'),
  agentOf('reviewer', { allowed_tools: [] }),
  agentOf('writer'),
];

export const delegationOf = (changes: Partial<Delegation> = {}): Delegation =>
  plannedDelegation('write-report', {
    agent_id: 'writer',
    title: 'Write the report',
    task_description: 'Write the report on the market.',
    acceptance_criteria: [{ criterion_id: 'c1', description: 'The report names three providers.' }],
    required_inputs: ['goal'],
    provided_inputs: ['goal'],
    produces: ['report'],
    ...changes,
  });

export const plan: WavePlan = { ...wavePlan([delegationOf()]), summary: 'One report.' };

/** A plan as a planner writes it. */
export const written = ({ delegations, ...rest }: WavePlan): WrittenPlan => ({
  ...rest,
  delegations: delegations.map(writeDelegation),
});

export const outputOf = (changes: Partial<AgentOutput> = {}): AgentOutput =>
  agentOutput({
    detailed_md: '# Report\n\nThree providers.',
    compact_md: 'The report is written.',
    coverage: coverageOf(['c1'], () => 'detailed_md, section "Report"', 'Report'),
    ...changes,
  });

export const decision: WaveDecision = waveDecision({
  wave_compact: '## Wave 1\n\nThe report is there.',
  wave_detailed: 'Because.',
  answer: { kind: 'text', value: 'The report is there.' },
});

export const recordOf = (registry_ref: Ref): RunRecord => ({
  version: 1,
  revision: 0,
  previous_ref: null,
  run_id: 'my-run',
  goal: 'Compare three providers.',
  goal_title: 'Compare three providers.',
  constraints: ['Only public sources.'],
  instructions: [],
  registry_ref,
  store_id: 'store',
  started_at: 1_700_000_000,
  updated_at: 1_700_000_000,
  phase: 'working',
  status: null,
  waves: [],
  criteria: [],
  details: [],
  consumptions: [],
  stale: [],
  facts: [],
  open_questions: [],
  answered_questions: [],
  rejected_answers: [],
  usage: noUsage,
  result_ref: null,
  report_ref: null,
});
