import type { StateToolCall, ToolCall } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { ReadStateCall, StateCall, StateToolName } from '../../contracts/state-call.ts';
import type { ToolUseBlock } from '../../contracts/transcript.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { listNames } from '../../core/text/list-names.ts';
import { countBytes } from '../text/bytes.ts';
import { wholePath } from '../text/describe-issues.ts';
import { readArguments } from '../tools/call-tool.ts';
import type { AgentTurnDeps } from './deps.ts';

/**
 * Maximum characters of a tool's name in history. No tool has a longer one, so a cut name is as unknown as the whole.
 */
const toolNameCharsMax = 200;

/** Maximum bytes of the state calls of one reply, as JSON. They go into history; faults are most of it. */
const stateCallsBytesMax = 64_000;

/** Tools that a conversation offers, as far as a reply's calls are distinguished by them. */
export interface CallsDeps extends Pick<AgentTurnDeps, 'store' | 'tools'> {
  /** Undefined outside of a triad or team: a call of such a tool is then one of an unknown tool. */
  readonly stateTools: readonly StateToolName[] | undefined;
}

export type SettledCalls =
  | { readonly ok: true; readonly calls: readonly (ToolCall | StateToolCall)[] }
  | { readonly ok: false; readonly fault: OutputFault };

/**
 * Reads the calls of a reply, in their order: those that the workflow decides with their arguments read and their texts
 * stored, all others with their arguments as an artifact.
 *
 * @returns a fault when too much is wrong with them to be reported.
 * @throws StoreUnavailable
 */
export async function settleCalls(
  deps: CallsDeps,
  blocks: readonly ToolUseBlock[],
): Promise<SettledCalls> {
  const settled = await Promise.all(blocks.map((block) => settleCall(deps, block)));
  const calls = await Promise.all(settled.map((call) => relateCall(deps, call, settled)));
  const bytes = countBytes(JSON.stringify(calls.filter((call) => 'state' in call)));
  if (bytes <= stateCallsBytesMax) return { ok: true, calls };
  const fault = {
    path: wholePath,
    reason: `the reply made ${calls.length} calls with more faults than can be listed, or with too many names; none was carried out`,
    hint: 'Try: one call at first, built like the example in the description of its tool.',
  };
  return { ok: false, fault };
}

async function settleCall(
  deps: CallsDeps,
  { id, name, input }: ToolUseBlock,
): Promise<ToolCall | StateToolCall> {
  const { store, tools, stateTools } = deps;
  const args = readArguments(input);
  const tool = tools.get(name);
  if (stateTools !== undefined && tool?.effect === 'state') {
    const isOffered = stateTools.includes(tool.name);
    const state = isOffered ? await tool.read(args, store) : refuse(tool.name, stateTools);
    return { tool_use_id: id, name, state };
  }
  return {
    tool_use_id: id,
    name: cutText(name, toolNameCharsMax),
    input_ref: await store.put(JSON.stringify(args)),
  };
}

type SettledCall = ToolCall | StateToolCall;

/** Completes a call from the others of its tool in the same reply. */
async function relateCall(
  { store, tools }: CallsDeps,
  call: SettledCall,
  calls: readonly SettledCall[],
): Promise<SettledCall> {
  const tool = tools.get(call.name);
  if (tool?.effect !== 'state' || tool.relate === undefined) return call;
  const [own] = stateOf(call);
  if (own === undefined) return call;
  const others = calls.filter((other) => other !== call && other.name === call.name);
  const related = await tool.relate(own, others.flatMap(stateOf), store);
  return { ...call, state: { ok: true, call: related } };
}

function stateOf(call: SettledCall): StateCall[] {
  return 'state' in call && call.state.ok ? [call.state.call] : [];
}

/** Refuses a tool of another role or phase. Its arguments are not read. */
function refuse(tool: StateToolName, offered: readonly StateToolName[]): ReadStateCall {
  const cure = offered.length === 0 ? 'go on without it' : listNames(offered);
  const fault = {
    path: wholePath,
    reason: `${tool} is not a tool of your role in this phase; nothing was recorded`,
    hint: `Try: ${cure}.`,
  };
  return { ok: false, tool, faults: [fault] };
}
