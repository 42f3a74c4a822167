import type { Activities } from '../../contracts/activity-types.ts';
import { AgentOutput } from '../../contracts/agent-output.ts';
import type { ApplyMiddlewareInput, ApplyMiddlewareResult } from '../../contracts/team-run.ts';
import { engineLimits } from '../../core/limits.ts';
import { cleanLine } from '../../core/text/cut-text.ts';
import { guardActivity } from '../attempt/failures.ts';
import { withHeartbeat } from '../attempt/heartbeat.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { Middleware, MiddlewareRegistry, Verdict } from '../ports/middleware.ts';
import { describeIssues } from '../text/describe-issues.ts';
import { BadVerdict, createMiddlewareFailed, findMiddleware, judgeText } from './judge-text.ts';

/** The activity that applies a team's middlewares and guardrails, one a call, in the order that the workflow gives. */
export function createMiddlewareActivities(
  deps: MiddlewareDeps,
): Pick<Activities, 'applyMiddleware'> {
  return {
    applyMiddleware: (input) =>
      guardActivity(() => withHeartbeat(() => applyMiddleware(deps, input))),
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
