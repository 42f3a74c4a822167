import type { FailureType } from '../../../contracts/errors.ts';

/** Classification of an API failure for the engine, with the text for people. */
export interface Verdict {
  readonly type: FailureType;
  /** True when the same request may succeed later. */
  readonly retryable: boolean;
  /** One clause that says what happened. */
  readonly what: string;
  /** One sentence that says what to do. */
  readonly cure: string;
  /** True for a fault in the schema of the output. Absent for all others. */
  readonly refusesSchema?: true;
}

const waiting = 'It is tried again by itself.';
const unchanged = 'The same request would fail again, so it is not repeated.';

const unavailable = (what: string): Verdict => ({
  type: 'ModelUnavailable',
  retryable: true,
  what,
  cure: waiting,
});

export const refused: Verdict = {
  type: 'ModelRequest',
  retryable: false,
  what: 'The model API refused the request',
  cure: unchanged,
};

export const refusedSchema: Verdict = {
  ...refused,
  what: 'The model API refused the schema of the request',
  refusesSchema: true,
};

export const tooLong: Verdict = {
  type: 'ModelContextExceeded',
  retryable: false,
  what: "The prompt does not fit the model's context",
  cure: 'Try: a shorter prompt, or a model with a larger context.',
};

export const tooLarge: Verdict = {
  ...refused,
  what: 'The request is larger than the model API or a proxy before it takes',
  cure: 'Try: fewer or smaller inputs.',
};

export const unauthorised: Verdict = {
  type: 'ModelAuth',
  retryable: false,
  what: 'The model API does not accept the API key',
  cure: 'Try: check ANTHROPIC_API_KEY, restart the worker, then resume the run.',
};

export const forbidden: Verdict = {
  type: 'ModelAuth',
  retryable: false,
  what: 'The API key lacks a permission for this call',
  cure: 'Try: a key of a workspace that may use this model, restart the worker, then resume the run.',
};

export const billing: Verdict = {
  type: 'ModelBilling',
  retryable: false,
  what: "The model provider's account can't pay for this call",
  cure: "Try: check the account's billing, then resume the run.",
};

export const spendCap: Verdict = {
  type: 'ModelSpendCap',
  retryable: false,
  what: "A spend limit of the model provider's account is reached",
  cure: 'Try: raise the limit or wait until it is renewed, then resume the run.',
};

export const gone: Verdict = {
  type: 'ModelGone',
  retryable: false,
  what: 'The model API does not know this model',
  cure: 'Try: check the name of the model and ANTHROPIC_BASE_URL, restart the worker, then resume the run.',
};

export const moved: Verdict = {
  ...gone,
  what: 'The address of the model API redirects to another one, which does not get the API key',
  cure: 'Try: set ANTHROPIC_BASE_URL to that address, restart the worker, then resume the run.',
};

export const rateLimited = unavailable('The rate limit of the model API is reached');
export const overloaded = unavailable('The model API is overloaded');
export const broken = unavailable('The model API had an error of its own');
export const timedOut = unavailable('The model API or a proxy gave up waiting');
export const conflict = unavailable('The model API was busy with something that conflicts');
export const closedEarly = unavailable('A proxy before the model API closed the request');
export const cut = unavailable("The model's reply broke off before its end");
export const unreachable = unavailable("The model API can't be reached");
export const lost = unavailable('The connection to the model API broke before a reply came');
export const unexpected = unavailable('The model API answered in an unexpected way');

export const noMessage: Verdict = {
  type: 'ModelProtocol',
  retryable: true,
  what: 'The model API answered with something that is no message',
  cure: 'Try: check that ANTHROPIC_BASE_URL leads to a Messages API and not to a login page or a proxy.',
};

export const byStatus: ReadonlyMap<number, Verdict> = new Map([
  [400, refused],
  [401, unauthorised],
  [402, billing],
  [403, forbidden],
  [404, gone],
  [408, timedOut],
  [409, conflict],
  [412, refused],
  [413, tooLarge],
  [422, refused],
  [429, rateLimited],
  [431, tooLarge],
  [499, closedEarly],
  [500, broken],
  [501, broken],
  [503, overloaded],
  [504, timedOut],
  [529, overloaded],
]);

/** Verdicts for errors inside a stream, after status 200. */
export const byErrorType: ReadonlyMap<string, Verdict> = new Map([
  ['invalid_request_error', refused],
  ['authentication_error', unauthorised],
  ['billing_error', billing],
  ['permission_error', forbidden],
  ['not_found_error', gone],
  ['request_too_large', tooLarge],
  ['rate_limit_error', rateLimited],
  ['timeout_error', timedOut],
  ['api_error', broken],
  ['overloaded_error', overloaded],
]);

/** The account's own limits, by `error_code`. Waiting does not lift them, whatever the status is. */
export const byErrorCode: ReadonlyMap<string, Verdict> = new Map([
  ['enforced_spend_limit_reached', spendCap],
  ['contract_spend_limit_reached', spendCap],
  ['linked_organization_spend_limit_reached', spendCap],
  ['linked_organization_billing_unavailable', billing],
]);
