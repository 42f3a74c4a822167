import { listUpstream } from '../../core/workspace/run-changes.ts';
import type { Context } from '@temporalio/activity';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type {
  ModelTurnInput,
  ToolCall,
  ModelTurnResult,
  StateToolCall,
} from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import { needsApproval } from '../../core/effects/decide-approval.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutMiddle } from '../../core/text/cut-text.ts';
import type { ReadingScope } from '../../contracts/transcript.ts';
import { checkUnchangedPaths } from '../../core/output/check-evidence.ts';
import { type ToolAnswer, callTool, prepareCall } from '../tools/call-tool.ts';
import { type ResearchTool, type Tool, placeOf } from '../tools/tool.ts';
import { readAgent, readJson } from '../artifacts/read-artifact.ts';
import { readOpenedSources } from '../artifacts/read-reports.ts';
import { endCancelled, readCancelCause } from '../attempt/heartbeat.ts';
import { loadConversation } from './conversation.ts';
import { type AgentTurnDeps, toolTimeoutMsDefault } from './deps.ts';
import { toolsGranted } from './offer-tools.ts';

/** The conversation that makes the call. */
interface Caller {
  readonly deps: Pick<AgentTurnDeps, 'store' | 'tools'>;
  readonly input: Pick<ModelTurnInput, 'reading'>;
  readonly agent: AgentDefinition;
  /** Newest node of the conversation. */
  readonly head: Ref;
}

/**
 * Judges a call whose work is a model call of its own. Nothing is sent here: the workflow makes the call, after an
 * approval where one is needed.
 *
 * @param args The arguments as the model wrote them.
 * @returns what people see of the call, or the result that says what to do instead.
 */
async function judgeResearch(
  { deps, input: { reading }, agent, head }: Caller,
  tool: ResearchTool,
  input: unknown,
  args: unknown,
): Promise<ToolAnswer | Required<Pick<ToolCall, 'research'>>> {
  if (reading === undefined) throw new Error(`${tool.spec.name} has no reading scope.`);
  const { record_ref } = reading;
  const { store } = deps;
  const listAddresses = () => findAddresses(deps, head);
  const refusal = await tool.findRefusal(input, { store, record_ref, listAddresses });
  if (refusal !== null) return { text: refusal, is_error: true };
  const facts = { mark: tool.approval, risk: agent.risk_level, losesWork: false, isGuarded: false };
  return {
    research: {
      target: tool.targetOf(input),
      arguments_shown: cutMiddle(JSON.stringify(args), engineLimits.shownArgumentsCharsMax),
      needs_approval: needsApproval(facts),
    },
  };
}

/**
 * Lists the web addresses that a conversation has from people, and the sources of its research. Other words of a report,
 * such as its question, are an agent's or a page's.
 */
async function findAddresses({ store, tools }: Caller['deps'], head: Ref): Promise<string[]> {
  const { nodes } = await loadConversation(store, head);
  const blocks = nodes.flatMap(({ messages }) => messages.flatMap(({ content }) => content));
  const isResearch = (name: string): boolean => tools.get(name)?.effect === 'research';
  const calls = new Set(
    blocks.flatMap((one) => (one.type === 'tool_use' && isResearch(one.name) ? [one.id] : [])),
  );
  const found = blocks.filter((one) => one.type === 'tool_result' && calls.has(one.tool_use_id));
  return [
    ...nodes.flatMap(({ addresses = [] }) => addresses),
    ...readOpenedSources([{ role: 'user', content: found }]).map(({ url }) => url),
  ];
}

/** Maximum calls that are made at the same time. */
const atOnceMax = 8;

/** Maximum milliseconds for all calls of one reply. An attempt at a model call may last 20 minutes. */
const totalMsMax = 180_000;

interface ReadingAttempt {
  readonly deps: AgentTurnDeps;
  readonly input: ModelTurnInput;
  readonly context: Context;
  /** Called with the name of each tool when its call begins. */
  readonly onCall: (tool: string) => void;
}

/** The data that the calls of one reply share. */
interface Reading extends ReadingAttempt {
  readonly agent: AgentDefinition;
  /** Newest node of the conversation. */
  readonly head: Ref;
  /** Names of the tools that the agent may call here. */
  readonly allowedTools: readonly string[];
  /** Milliseconds, by the clock of `performance.now`. */
  readonly until: number;
}

/**
 * Makes the calls of a reply that change nothing, and adds their results. A call that can't be made gets an error as its
 * result; one that changes something outside is left to the workflow.
 *
 * The reply must be in the ledger: a repeat of the activity then makes these calls again, and buys nothing.
 *
 * @throws StoreUnavailable, because a repeat of the activity may help where another try of the model can't.
 */
export async function makeReads(
  attempt: ReadingAttempt,
  result: ModelTurnResult,
): Promise<ModelTurnResult> {
  const { reply } = result;
  if (reply.type !== 'tools') return result;
  const { deps, input } = attempt;
  const isActing = (name: string): boolean => deps.tools.get(name)?.effect === 'acting';
  const mayAct = input.reading?.acts ?? false;
  const pending = reply.calls.filter(isOpen).filter(({ name }) => !mayAct || !isActing(name));
  if (pending.length === 0) return result;
  const agent = await readAgent(deps.store, input.registry_ref, input.agent_id);
  const granted = input.reading === undefined ? [] : toolsGranted(deps.tools, agent);
  const refused = listRefused(input.reading);
  const allowedTools = granted.filter(
    (name) => !refused.some((effect) => deps.tools.get(name)?.effect === effect),
  );
  const { head } = result;
  const reading = { ...attempt, agent, head, allowedTools, until: performance.now() + totalMsMax };
  const loadsLeft = shareLoads(deps, pending, input.reading?.loads_left ?? 0);
  const reads = new Map<ToolCall | StateToolCall, Made>();
  for (let at = 0; at < pending.length; at += atOnceMax) {
    const batch = pending.slice(at, at + atOnceMax);
    // Bounded, because a search starts a process.
    // oxlint-disable-next-line no-await-in-loop
    const made = await Promise.all(
      batch.map((call, nth) => makeRead(reading, call, loadsLeft[at + nth] ?? 0)),
    );
    for (const [nth, call] of batch.entries()) {
      const read = made[nth];
      if (read !== undefined) reads.set(call, read);
    }
  }
  const calls = reply.calls.map((call) => {
    const made = reads.get(call);
    return made === undefined ? call : { ...call, ...made };
  });
  return { ...result, reply: { ...reply, calls } };
}

/** Computes for each call how many details are left to load when those before it have loaded theirs. */
function shareLoads(
  { tools }: Pick<AgentTurnDeps, 'tools'>,
  calls: readonly ToolCall[],
  loads: number,
): readonly number[] {
  const canLoad = calls.map(({ name }) => {
    const tool = tools.get(name);
    return tool?.effect === 'read' && tool.loads === true;
  });
  return calls.map((_call, at) => loads - canLoad.slice(0, at).filter(Boolean).length);
}

/** Lists the effects of tools whose calls no workflow makes here. */
function listRefused(scope: ReadingScope | undefined): readonly Tool['effect'][] {
  if (scope?.acts === true) return [];
  return scope?.researches === true ? ['acting'] : ['acting', 'research'];
}

/** Returns true for a call that an activity makes and that has no result yet. */
function isOpen(call: ToolCall | StateToolCall): call is ToolCall {
  return !('state' in call) && call.read === undefined;
}

/** The result of a call, or what people see of one that the workflow makes. */
type Made = Pick<ToolCall, 'read' | 'research'>;

async function makeRead(reading: Reading, call: ToolCall, loads_left: number): Promise<Made> {
  const { deps, context, onCall } = reading;
  onCall(call.name);
  const loaded = new Set<string>();
  const answer = await answerRead(reading, call, {
    loads_left: Math.max(0, loads_left),
    onLoaded: (id) => loaded.add(id),
  }).catch((error: unknown) => {
    const cause = readCancelCause(context);
    // Of a conversation that goes on after all, each call has a result.
    if (cause === 'requested')
      return { text: 'The work was stopped during this call.', is_error: true };
    if (cause !== null) return endCancelled(context, cause);
    throw error;
  });
  if ('research' in answer) return answer;
  const { text, is_error } = answer;
  const result_ref = await deps.store.put(text);
  return { read: { result_ref, is_error, loaded_details: is_error ? [] : [...loaded] } };
}

async function answerRead(
  reading: Reading,
  { name, input_ref }: ToolCall,
  loading: { readonly loads_left: number; readonly onLoaded: (detailId: string) => void },
): Promise<ToolAnswer | Required<Pick<ToolCall, 'research'>>> {
  const { deps, input, context, head, allowedTools, until } = reading;
  const args = await readJson(deps.store, input_ref);
  const prepared = prepareCall(deps.tools, { name, input: args, allowedTools });
  if ('is_error' in prepared) return prepared;
  const { tool } = prepared;
  if (tool.effect === 'research') return judgeResearch(reading, tool, prepared.input, args);
  if (tool.effect !== 'read' || input.reading === undefined) {
    throw new Error(`${name} is not a tool that only reads.`);
  }
  const ownMs = tool.timeoutMsOf?.(prepared.input) ?? deps.toolTimeoutMs ?? toolTimeoutMsDefault;
  const { timeoutMs, overdue } = limitCall(ownMs, until);
  const { record_ref, upstream } = input.reading;
  const { store } = deps;
  const { run_id, delegation_id = '' } = input;
  const builds_on = listUpstream(upstream);
  const signal = context.cancellationSignal;
  const listAddresses = () => findAddresses(deps, head);
  const caller = { run_id, delegation_id, builds_on, record_ref, upstream, listAddresses };
  const toolContext = { store, signal, ...caller, ...loading };
  return callTool(tool, prepared.input, toolContext, timeoutMs, overdue);
}

/**
 * Limits a call to what is left of its reply's time.
 *
 * @param ownMs Milliseconds that its tool may take.
 * @param until Defined in Reading.
 * @returns also why it had less than its tool may take.
 */
function limitCall(ownMs: number, until: number): { timeoutMs: number; overdue?: string } {
  const timeoutMs = Math.max(1, until - performance.now());
  if (timeoutMs >= ownMs) return { timeoutMs: ownMs };
  const limit = `the calls of one reply that only read have ${totalMsMax / 1_000} s together, which no setting changes`;
  const cure = 'Try: make fewer such calls in one reply, or go on without it and say so.';
  const overdue = `it was given up after ${Math.round(timeoutMs / 1_000)} s: ${limit}. ${cure}`;
  return { timeoutMs, overdue };
}

/**
 * Compares what an output names as unchanged with the files of the caller's copy, and adds a fault for each path where they
 * differ from the user's. An output that names none is returned as it is.
 */
export async function checkUnchanged(
  { deps, input, context }: Omit<ReadingAttempt, 'onCall'>,
  result: ModelTurnResult,
): Promise<ModelTurnResult> {
  const { reply } = result;
  if (reply.type !== 'output' || !('output' in reply.outline)) return result;
  const { outline } = reply;
  const { coverage, text_faults } = outline.output;
  if (coverage.criteria_met.every(({ where }) => where.kind !== 'unchanged')) return result;
  const { run_id, delegation_id = '', reading } = input;
  const touched =
    reading === undefined
      ? null
      : await deps.worktrees.listTouched(
          await placeOf({
            store: deps.store,
            run_id,
            delegation_id,
            builds_on: listUpstream(reading.upstream),
            record_ref: reading.record_ref,
            signal: context.cancellationSignal,
          }),
        );
  const faults = checkUnchangedPaths(coverage, touched?.map(({ path }) => path) ?? null);
  const output = { ...outline.output, text_faults: [...text_faults, ...faults] };
  return { ...result, reply: { ...reply, outline: { ...outline, output } } };
}
