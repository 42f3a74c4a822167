import { defaultPayloadConverter, uuid4, workflowInfo } from '@temporalio/workflow';
import type {
  Headers,
  WorkflowInboundCallsInterceptor,
  WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import { signalNames, workflowTypes } from '../../contracts/names.ts';

/** Header of every message between the workflows of one run. No payload, prompt, record or file contains it. */
const tokenHeader = 'planwave-token';

/** Header with which a topmost workflow below another one continues as new: its parent gave it no token, so it has its own. */
const topmostHeader = 'planwave-topmost';

/** Signals that only a workflow of the same run sends. */
export const engineSignals: readonly string[] = [
  signalNames.escalate,
  signalNames.deliver,
  signalNames.inform,
  signalNames.grant,
  signalNames.progress,
  signalNames.designed,
];

export interface TokenCheck {
  readonly inbound: WorkflowInboundCallsInterceptor;
  readonly outbound: WorkflowOutboundCallsInterceptor;
  /** Learns from the headers of a start whether the workflow is part of a run, and then the token. */
  learn(headers: Headers): void;
  /**
   * Returns true for a workflow that people steer: no workflow of the same run started it. Also the cell of an evaluation and
   * the child of a user's workflow. Known once its start was learnt.
   */
  isTopmost(): boolean;
  /** Returns true for the headers of a message from a workflow of this run. */
  isStamped(headers: Headers): boolean;
}

interface TokenState {
  token: string | null;
  isTopmost: boolean;
}

/**
 * Stamps the messages between the workflows of one run with a token, and checks it. The topmost workflow makes the token;
 * children get it with their start, and continue-as-new passes it on.
 *
 * A message of the engine without the token reaches its handler without its content, so that the handler refuses it like
 * any other that it can't read. A message with another token is dropped: after a reset to its first step a run has a new
 * one, and the server gives it the messages from before once more.
 */
export function createTokenCheck(): TokenCheck {
  const state: TokenState = { token: null, isTopmost: false };
  return {
    inbound: createInbound(state),
    outbound: createOutbound(state),
    learn(headers) {
      const { parent, continuedFromExecutionRunId } = workflowInfo();
      const isFirst = continuedFromExecutionRunId === undefined;
      const token = readToken(headers);
      const isOwn = !isFirst && headers[topmostHeader] !== undefined;
      state.isTopmost = parent === undefined || token === null || isOwn;
      state.token = parent === undefined && isFirst ? null : token;
    },
    isTopmost: () => state.isTopmost,
    isStamped: (headers) => state.token !== null && readToken(headers) === state.token,
  };
}

function createInbound(state: TokenState): WorkflowInboundCallsInterceptor {
  return {
    async execute(input, next) {
      const { parent, continuedFromExecutionRunId } = workflowInfo();
      // Whoever starts a topmost workflow can't choose its token.
      const isFirst = parent === undefined && continuedFromExecutionRunId === undefined;
      state.token = (isFirst ? null : readToken(input.headers)) ?? uuid4();
      return next(input);
    },
    // Not async: each promise costs time.
    handleSignal(input, next) {
      if (!engineSignals.includes(input.signalName)) return next(input);
      const token = readToken(input.headers);
      if (token === state.token) return next(input);
      return token !== null ? Promise.resolve() : next({ ...input, args: [null] });
    },
  };
}

function createOutbound(state: TokenState): WorkflowOutboundCallsInterceptor {
  const stamp = <T extends { readonly headers: Headers }>(input: T): T => ({
    ...input,
    headers: {
      ...input.headers,
      [tokenHeader]: defaultPayloadConverter.toPayload(state.token),
    },
  });
  const mark = <T extends { readonly headers: Headers }>(input: T): T =>
    state.isTopmost && workflowInfo().parent !== undefined
      ? {
          ...input,
          headers: { ...input.headers, [topmostHeader]: defaultPayloadConverter.toPayload(true) },
        }
      : input;
  return {
    // Each cell of an evaluation is a run of its own.
    startChildWorkflowExecution: (input, next) =>
      next(workflowInfo().workflowType === workflowTypes.evaluation ? input : stamp(input)),
    signalWorkflow: (input, next) => next(stamp(input)),
    continueAsNew: (input, next) => next(mark(stamp(input))),
  };
}

function readToken(headers: Headers): string | null {
  const payload = headers[tokenHeader];
  if (payload === undefined) return null;
  try {
    const token: unknown = defaultPayloadConverter.fromPayload(payload);
    return typeof token === 'string' && token !== '' ? token : null;
  } catch {
    // A header that is no JSON fails no workflow task.
    return null;
  }
}
