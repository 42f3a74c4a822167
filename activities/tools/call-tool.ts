import { cutText } from '../../core/text/cut-text.ts';
import { listNames } from '../../core/text/list-names.ts';
import { isRecord, parseJson } from '../../core/json.ts';
import { StoreUnavailable } from '../ports/artifact-store.ts';
import { countBytes, takeLines } from '../text/bytes.ts';
import { describeIssues } from '../text/describe-issues.ts';
import {
  grantTools,
  type GrantableTool,
  type ReadContext,
  type ReadingTool,
  type Tool,
  type ToolContext,
  type ToolRegistry,
} from './tool.ts';
import { messageOf } from '../../core/text/message-of.ts';
import { untilAborted } from '../attempt/until-aborted.ts';

/** Maximum bytes of a tool's result: 25,000 tokens. A tool with a longer result returns it in pages. */
const toolResultBytesMax = 100_000;

/** Maximum characters of the message of a throwing tool. */
const errorTextMax = 2_000;

export interface ToolRequest {
  readonly name: string;
  /** The arguments as the model wrote them. */
  readonly input: unknown;
  /** Grant of the agent. Nothing else can be called, whatever a text asked the model to do. */
  readonly allowedTools: readonly string[];
}

export interface ToolAnswer {
  readonly text: string;
  readonly is_error: boolean;
}

/** Call that may be made: a granted tool, and arguments that it takes. */
export interface PreparedCall {
  readonly tool: GrantableTool;
  readonly input: unknown;
}

/** @returns the call, or the error result that says what to do instead. */
export function prepareCall(
  registry: ToolRegistry,
  request: ToolRequest,
): PreparedCall | ToolAnswer {
  const granted = grantTools(registry, request.allowedTools);
  const tool = granted.find((one) => one.spec.name === request.name);
  if (tool === undefined) return refuse(explainUnknown(request.name, granted));
  const parsed = tool.spec.input.safeParse(request.input);
  if (parsed.success) return { tool, input: parsed.data };
  const faults = describeIssues(parsed.error).map((f) => `- ${f.path}: ${f.reason}. ${f.hint}`);
  return refuse(`The arguments of ${request.name} are not valid:\n${faults.join('\n')}`);
}

/**
 * Runs a tool that changes nothing. An error becomes an error result that says what to do instead, so the turn
 * continues.
 *
 * @param overdue Defined in `runWithin`.
 * @throws StoreUnavailable, because a repeat of the activity may help where another try of the model can't.
 * @throws the reason with which `context.signal` was aborted.
 */
export async function callTool(
  tool: ReadingTool,
  input: unknown,
  context: ReadContext,
  timeoutMs: number,
  overdue?: string,
): Promise<ToolAnswer> {
  try {
    const text = await runWithin((inner) => tool.run(input, inner), context, timeoutMs, overdue);
    return { text: capResult(text), is_error: false };
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    context.signal.throwIfAborted();
    return refuse(describeFailure(tool, error));
  }
}

/** Tells the model that a tool threw, and why. */
export function describeFailure({ spec }: Tool, error: unknown): string {
  return `${spec.name} failed: ${cutText(messageOf(error), errorTextMax)}`;
}

/** A tool took longer than it may. It may still go on somewhere. */
export class ToolTimeout extends Error {
  override readonly name = 'ToolTimeout';
}

/**
 * Runs a tool's work for at most `timeoutMs`.
 *
 * @param overdue Says what was exceeded and what to try. Default: this time.
 * @throws {ToolTimeout} when it took longer.
 * @throws the error of the work, or the reason with which `context.signal` was aborted.
 */
export async function runWithin<T, C extends ToolContext>(
  work: (context: C) => Promise<T>,
  context: C,
  timeoutMs: number,
  overdue = `it took longer than ${timeoutMs / 1_000} s and was given up. Try: ask for less at once, or go on without it and say so.`,
): Promise<T> {
  const timeout = new AbortController();
  const signal = AbortSignal.any([context.signal, timeout.signal]);
  const timer = setTimeout(() => timeout.abort(new ToolTimeout(overdue)), timeoutMs);
  try {
    // A tool need not listen to the signal.
    return await untilAborted(work({ ...context, signal }), signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Cuts a result to what a model is shown. */
export function capResult(text: string): string {
  if (text === '') return '[The tool gave no output.]';
  const shown = takeLines(text, toolResultBytesMax);
  if (shown.length === text.length) return text;
  return `${shown}\n[Cut: ${countBytes(shown)} of ${countBytes(text)} bytes are shown. Ask for less at once to see the rest.]`;
}

function explainUnknown(name: string, granted: readonly Tool[]): string {
  const names = granted.map((tool) => tool.spec.name);
  const cure =
    names.length === 0 ? 'Try: go on without tools.' : `You may call: ${listNames(names)}.`;
  return `There is no tool ${JSON.stringify(cutText(name, 120))} for you. ${cure}`;
}

function refuse(text: string): ToolAnswer {
  return { text, is_error: true };
}

/**
 * Reads the arguments of a tool call. Some models and gateways send them as a string that holds the JSON (seed 002,
 * case 6.1).
 *
 * @returns the content of the string when that is an object; everything else unchanged, for the tool's schema to check.
 */
export function readArguments(input: unknown): unknown {
  if (typeof input !== 'string') return input ?? {};
  const value = parseJson(input);
  return isRecord(value) ? value : input;
}
