import { ApplicationFailure, Context } from '@temporalio/activity';
import { z } from 'zod';
import type { ApplyMiddlewareInput, ApplyMiddlewareResult } from '../../contracts/team-run.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutText, cleanLine } from '../../core/text/cut-text.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { Activities } from '../../contracts/activity-types.ts';
import { AgentOutput } from '../../contracts/agent-output.ts';
import { endCancelled, readCancelCause, withHeartbeat } from '../attempt/heartbeat.ts';
import type { Middleware, MiddlewareRegistry, Verdict } from '../ports/middleware.ts';
import { describeIssues } from '../text/describe-issues.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { untilAborted } from '../attempt/until-aborted.ts';

/** Characters that are kept of what a middleware threw. */
const thrownCharsMax = 2_000;

/** A verdict that can't be used. The middleware would give the same again, so it is not asked again. */
class BadVerdict extends Error {
  override readonly name = 'BadVerdict';
}

/** Creates `MiddlewareFailed` with name and message. It is tried again, because what was thrown may be the moment's fault. */
function createMiddlewareFailed(
  { name, kind }: Middleware,
  stage: ApplyMiddlewareInput['stage'],
  error: unknown,
): ApplicationFailure {
  const isLast = Context.current().info.attempt >= engineLimits.middlewareAttemptsMax;
  return ApplicationFailure.create({
    type: 'MiddlewareFailed',
    message: `the ${kind} "${name}" failed on the ${stage}: ${cutText(sayOf(error), thrownCharsMax)}`,
    nonRetryable: isLast || error instanceof BadVerdict,
    ...(error instanceof Error && { cause: error }),
  });
}

function sayOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === 'string' ? error : `it threw a value of type ${typeof error}`;
}

/** @throws InvalidInput when this worker has none of that name for that use. */
function findMiddleware(
  registry: MiddlewareRegistry,
  { name, kind, stage }: Pick<ApplyMiddlewareInput, 'name' | 'kind' | 'stage'>,
): Middleware {
  const found = registry.get(name);
  if (found !== undefined && found.kind === kind && found.stages.includes(stage)) return found;
  const fitting = [...registry.values()]
    .filter((one) => one.kind === kind && one.stages.includes(stage))
    .map((one) => one.name);
  throw ApplicationFailure.nonRetryable(
    `This worker has no ${kind} "${cutText(name, 120)}" for the ${stage}${explain(found, kind)}. ` +
      `Try: one of ${listNames(fitting)}, or a worker whose PLANWAVE_MIDDLEWARES has it.`,
    'InvalidInput',
  );
}

function explain(found: Middleware | undefined, kind: Middleware['kind']): string {
  if (found === undefined) return '';
  return found.kind === kind
    ? `: that is for ${found.stages.join(' and ')}`
    : `: that is a ${found.kind}`;
}

const Reason = z
  .string()
  .trim()
  .min(1, 'expected why, for people. Try: {"type":"block","reason":"It names a person."}');

const Pass = z.strictObject({
  type: z.literal('pass'),
  text: z.string().optional(),
  note: z.string().optional(),
});

const verdicts = {
  middleware: Pass,
  guardrail: z.discriminatedUnion('type', [
    Pass,
    z.strictObject({ type: z.literal('block'), reason: Reason }),
    z.strictObject({ type: z.literal('ask'), reason: Reason }),
  ]),
} as const satisfies Record<Middleware['kind'], z.ZodType>;

const examples = {
  middleware: '{"type":"pass"} or {"type":"pass","text":"…"}; only a guardrail blocks or asks',
  guardrail: '{"type":"pass"}, {"type":"block","reason":"…"} or {"type":"ask","reason":"…"}',
} as const;

/**
 * Calls a middleware with one text, for at most `timeoutMs`. One that hangs is abandoned; its late end changes nothing.
 *
 * @throws MiddlewareFailed when it throws, hangs, or returns no verdict of its kind.
 */
async function judgeText(
  middleware: Middleware,
  { stage, run_id, delegation_id }: ApplyMiddlewareInput,
  text: string,
  timeoutMs: number,
): Promise<Verdict> {
  const context = Context.current();
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.cancellationSignal, timeout]);
  try {
    const apply = async () => middleware.apply(text, { stage, run_id, delegation_id, signal });
    const given = await untilAborted(apply(), signal);
    return readVerdict(middleware, given);
  } catch (error) {
    const cause = readCancelCause(context);
    if (cause !== null) return await endCancelled(context, cause);
    const late = new Error(`it took longer than ${timeoutMs / 1_000} s and was given up`);
    throw createMiddlewareFailed(middleware, stage, timeout.aborted ? late : error);
  }
}

/** Checks the verdict at run time, because the types of a user's module are unchecked. */
function readVerdict({ kind }: Middleware, given: unknown): Verdict {
  const parsed = verdicts[kind].safeParse(given);
  if (parsed.success) return parsed.data;
  const faults = describeIssues(parsed.error).map(({ path, reason }) => `${path}: ${reason}`);
  throw new BadVerdict(`it gave no verdict (${faults.join('; ')}). Try: give ${examples[kind]}`);
}

/** The activity that applies a team's middlewares and guardrails, one a call, in the order that the workflow gives. */
export function createMiddlewareActivities(
  deps: MiddlewareDeps,
): Pick<Activities, 'applyMiddleware'> {
  return {
    applyMiddleware: (input) => withHeartbeat(() => applyMiddleware(deps, input)),
  };
}

interface MiddlewareDeps {
  readonly store: ArtifactStore;
  readonly middlewares: MiddlewareRegistry;
  /** Milliseconds that a middleware may take for one text. Default 25,000: two texts fit into an attempt of a minute. */
  readonly middlewareTimeoutMs?: number | undefined;
}

const timeoutMsDefault = 25_000;

/** Applies one middleware or guardrail to a team's message or answer, and stores what it changed. */
async function applyMiddleware(
  deps: MiddlewareDeps,
  input: ApplyMiddlewareInput,
): Promise<ApplyMiddlewareResult> {
  const middleware = findMiddleware(deps.middlewares, input);
  const judge = (text: string): Promise<Verdict> =>
    judgeText(middleware, input, text, deps.middlewareTimeoutMs ?? timeoutMsDefault);
  const text = await deps.store.getText(input.subject_ref);
  const applied =
    input.stage === 'input' ? await changeMessage(text, judge) : await changeOutput(text, judge);
  if (applied.type !== 'passed') {
    return {
      type: applied.type,
      reason: cleanLine(applied.reason, engineLimits.verdictTextCharsMax),
    };
  }
  const note = cleanLine(applied.note, engineLimits.verdictTextCharsMax);
  if (applied.text === text) return { type: 'passed', subject_ref: input.subject_ref, note };
  checkChanged(middleware, input.stage, applied.text);
  return { type: 'passed', subject_ref: await deps.store.put(applied.text), note };
}

type Judge = (text: string) => Promise<Verdict>;

type Applied =
  | { readonly type: 'passed'; readonly text: string; readonly note: string }
  | { readonly type: 'blocked' | 'ask'; readonly reason: string };

async function changeMessage(text: string, judge: Judge): Promise<Applied> {
  const verdict = await judge(text);
  switch (verdict.type) {
    case 'pass':
      return { type: 'passed', text: verdict.text ?? text, note: verdict.note ?? '' };
    case 'block':
      return { type: 'blocked', reason: verdict.reason };
    case 'ask':
      return { type: 'ask', reason: verdict.reason };
  }
}

const fields = ['compact_md', 'detailed_md'] as const;

/** Both texts are judged. What blocks one blocks the output, and goes before a question about the other. */
async function changeOutput(text: string, judge: Judge): Promise<Applied> {
  const output: AgentOutput = JSON.parse(text);
  const asked: string[] = [];
  const notes: string[] = [];
  let changed = output;
  for (const field of fields) {
    const verdict = await judge(output[field]);
    if (verdict.type === 'block') return { type: 'blocked', reason: `${field}: ${verdict.reason}` };
    if (verdict.type === 'ask') asked.push(`${field}: ${verdict.reason}`);
    else {
      if (verdict.note) notes.push(`${field}: ${verdict.note}`);
      if (verdict.text !== undefined && verdict.text !== output[field]) {
        changed = { ...changed, [field]: verdict.text };
      }
    }
  }
  if (asked.length > 0) return { type: 'ask', reason: asked.join('; ') };
  const isSame = changed === output;
  return { type: 'passed', text: isSame ? text : JSON.stringify(changed), note: notes.join('; ') };
}

/** @throws MiddlewareFailed when what it made of the text can't take its place. */
function checkChanged(
  middleware: Middleware,
  stage: ApplyMiddlewareInput['stage'],
  text: string,
): void {
  const fault = stage === 'input' ? findMessageFault(text) : findOutputFault(text);
  if (fault === null) return;
  const error = new BadVerdict(`its text can't be used: ${fault}`);
  throw createMiddlewareFailed(middleware, stage, error);
}

function findMessageFault(text: string): string | null {
  if (text.trim() === '') return 'it is blank';
  return findLengthFault(text, engineLimits.changedMessageCharsMax);
}

function findOutputFault(text: string): string | null {
  const parsed = AgentOutput.safeParse(JSON.parse(text));
  if (!parsed.success) {
    return describeIssues(parsed.error)
      .map(({ path, reason }) => `${path}: ${reason}`)
      .join('; ');
  }
  for (const field of fields) {
    const fault = findLengthFault(parsed.data[field], engineLimits.changedOutputCharsMax);
    if (fault !== null) return `${field}: ${fault}`;
  }
  return null;
}

function findLengthFault(text: string, most: number): string | null {
  return text.length <= most
    ? null
    : `it has ${text.length} characters, at most ${most} are allowed`;
}
