import { isRecord, parseJson } from '../core/json.ts';
import type { Explanation } from './explain-connection.ts';
import { formatTime } from './format-time.ts';

/** Facts about a request that a server refused for want of rights. */
export interface Refusal {
  /** The server's own words, without gRPC's code; mostly "Request unauthorized", whatever the reason. */
  readonly text: string;
  readonly namespace: string;
  /** The key that was sent, which never gets into the explanation; null when none was. */
  readonly apiKey: string | null;
  /** Unix epoch milliseconds. */
  readonly nowMs: number;
}

/** The readable part of an API key that is a JSON Web Token. Nothing says that its signature is right. */
interface ReadToken {
  readonly isSigned: boolean;
  /** Unix epoch milliseconds; null when the token does not say. */
  readonly expiresAt: number | null;
  /** Unix epoch milliseconds; null when the token does not say. */
  readonly validFrom: number | null;
  /** Each `namespace:role`, read like Temporal's default claim mapper does; null when there are none. */
  readonly permissions: readonly string[] | null;
}

/** Explains why a server refused credentials: it hardly says so itself, but a token can be read. */
export function explainRefusal(refusal: Refusal): Explanation {
  const { apiKey, namespace, text, nowMs } = refusal;
  if (apiKey === null) {
    return {
      what: `it asks for an API key, and none is set${quote(text)}`,
      cure: `TEMPORAL_API_KEY=<a key for namespace ${namespace}>, or a client certificate (TEMPORAL_TLS_CLIENT_CERT_PATH and …_KEY_PATH) where the server goes by those`,
    };
  }
  const token = readToken(apiKey);
  const aboutToken = token === null ? null : explainToken(token, refusal);
  if (aboutToken !== null) return aboutToken;
  if (/expired/i.test(text)) return expired(null, nowMs);
  const readable =
    token === null ? '' : ', or its signature or issuer is not one that the server knows';
  return {
    what: `the API key is not valid for namespace ${namespace}${readable}${quote(text)}`,
    cure: 'check TEMPORAL_API_KEY and TEMPORAL_NAMESPACE (or --namespace)',
  };
}

function explainToken(token: ReadToken, { namespace, nowMs }: Refusal): Explanation | null {
  const { isSigned, expiresAt, validFrom, permissions } = token;
  if (!isSigned) {
    return {
      what: 'the API key is a token without a signature',
      cure: 'TEMPORAL_API_KEY=<a token that is signed with a key that the server knows>',
    };
  }
  if (expiresAt !== null && expiresAt <= nowMs) return expired(expiresAt, nowMs);
  if (validFrom !== null && validFrom > nowMs) {
    return {
      what: `the API key is valid only from ${timeOf(validFrom)} on`,
      cure: 'compare the clocks of this machine and of the one that issued it',
    };
  }
  return permissions === null ? null : explainPermissions(permissions, namespace);
}

function expired(at: number | null, nowMs: number): Explanation {
  const when = at === null ? '' : ` at ${timeOf(at)} (now ${timeOf(nowMs)})`;
  return {
    what: `the API key expired${when}`,
    cure: 'a new one in TEMPORAL_API_KEY. Workers read it at their start: restart them',
  };
}

/** Scope that covers every namespace, in Temporal's default claim mapper. */
const systemScopes = ['temporal-system', 'system'];

function explainPermissions(permissions: readonly string[], namespace: string): Explanation | null {
  const roles = permissions.flatMap((one) => {
    const [scope = '', role = ''] = one.split(':');
    return scope.toLowerCase() === namespace.toLowerCase() || systemScopes.includes(scope)
      ? [role.toLowerCase()]
      : [];
  });
  const needed =
    `a key with "${namespace}:write", which clients and workers need, and "${namespace}:admin" ` +
    'for the one who registers the search attributes';
  if (roles.length === 0) {
    const held = permissions.length === 0 ? 'no permission' : `only ${permissions.join(', ')}`;
    return { what: `the API key has ${held}, so nothing in namespace ${namespace}`, cure: needed };
  }
  if (roles.includes('admin')) return null;
  const held = `the API key has only ${roles.join(', ')} in namespace ${namespace}`;
  if (!roles.includes('write')) {
    return { what: `${held}, which is not enough for this`, cure: needed };
  }
  // The server refuses both with the same words.
  return {
    what: `${held}, and either this needs admin, or the server does not know the key or the issuer that signed it`,
    cure: `${needed}, signed with a key that the server knows`,
  };
}

/** Reads a JSON Web Token; null when the key is none. */
export function readToken(apiKey: string): ReadToken | null {
  const [head = '', claims = '', signature = '', ...rest] = apiKey.trim().split('.');
  const header = readPart(head);
  const body = readPart(claims);
  if (header === null || body === null || rest.length > 0) return null;
  const { alg } = header;
  const { exp, nbf, permissions } = body;
  return {
    isSigned: signature !== '' && typeof alg === 'string' && alg.toLowerCase() !== 'none',
    expiresAt: typeof exp === 'number' ? exp * 1_000 : null,
    validFrom: typeof nbf === 'number' ? nbf * 1_000 : null,
    permissions: Array.isArray(permissions)
      ? permissions.filter((one): one is string => typeof one === 'string')
      : null,
  };
}

function readPart(part: string): Readonly<Record<string, unknown>> | null {
  const value = parseJson(Buffer.from(part, 'base64url').toString('utf8'));
  return isRecord(value) ? value : null;
}

/** The server's words say nothing more when they only say no. */
function quote(text: string): string {
  return /^(request )?unauthorized$/i.test(text) ? '' : ` (${text})`;
}

/** Returns a time to the minute, as `2026-11-25 17:30 UTC`. */
export function timeOf(epochMs: number): string {
  return `${formatTime(epochMs / 1_000)} UTC`;
}
