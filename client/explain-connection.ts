/**
 * Rules that explain why a Temporal server can't be used, from what a probe of its address met, or from its refusal. They
 * need no network; `probe-server.ts` is the probe.
 */

import { entryPoints } from '../core/text/entry-points.ts';
import { formatDay } from './format-time.ts';

/** Cause of a failure, and what to do. */
export interface Explanation {
  /** The rest of a sentence about the server; begins in lower case and ends without a full stop. */
  readonly what: string;
  /** Null when nothing better is known than to start a server, or to name another one. */
  readonly cure: string | null;
}

/** Facts of a certificate that help to find the right one. */
export interface CertificateFacts {
  /** Names that it is for, such as `temporal.example.com` or `10.0.0.1`; its subject when it lists none. */
  readonly names: readonly string[];
  readonly issuer: string;
  /** Unix epoch milliseconds. */
  readonly validFrom: number;
  /** Unix epoch milliseconds. */
  readonly validTo: number;
}

/** Settings of a client's connection. */
export interface OwnTls {
  readonly isOn: boolean;
  readonly hasApiKey: boolean;
  /** Number of certificates in the CA setting; null when it is not set. */
  readonly caCertificates: number | null;
  /** Name that the server's certificate must be for. */
  readonly serverName: string;
  /** The client's own certificate; null when none is set. */
  readonly certificate: CertificateFacts | null;
}

/** Result of an attempt to speak TLS with the address. */
export type TlsReply =
  /** Nothing that looks like TLS came back. */
  | { readonly type: 'none' }
  /** Code and message of OpenSSL: the server broke off the handshake, or the connection after it. */
  | { readonly type: 'refused'; readonly fault: string }
  /** The handshake was made. `fault` is why the server's certificate is not trusted, null when it is. */
  | {
      readonly type: 'made';
      readonly fault: string | null;
      readonly certificate: CertificateFacts;
      /** Reaction of the server to the first bytes of HTTP/2. */
      readonly reply: 'http2' | 'closed' | 'other';
    };

/** Everything that a probe met at an address. */
export type Sighting =
  /** No connection: the code of the system's error, or null after a time-out. */
  | { readonly type: 'unreachable'; readonly code: string | null }
  | {
      readonly type: 'connected';
      readonly speaksPlainHttp2: boolean;
      /** Not one byte came back without TLS, nor an end. */
      readonly isSilent: boolean;
      readonly tls: TlsReply;
    };

const unreachableReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name can not be looked up',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ECONNRESET: 'the connection was reset',
};

const notTemporal: Explanation = {
  what: 'something listens there, but it does not answer as a Temporal server',
  cure: null,
};

/** A Temporal server that has too much to do can't be told from another one, so both are named. */
const late: Explanation = {
  what: 'something listens there, but it does not answer as a Temporal server in time: it is busy, or it is none',
  cure: `the same command again in a minute. If it is none: start one with "${entryPoints.dev}", or set TEMPORAL_ADDRESS (or --address) to where it runs`,
};

function explainUnreachable(code: string | null): Explanation {
  return { what: unreachableReasons[code ?? ''] ?? code ?? 'no answer', cure: null };
}

/** Explains what a probe met. @param nowMs Unix epoch milliseconds */
export function explainSighting(sighting: Sighting, own: OwnTls, nowMs: number): Explanation {
  if (sighting.type === 'unreachable') return explainUnreachable(sighting.code);
  const { tls, speaksPlainHttp2, isSilent } = sighting;
  const withoutTls = isSilent ? late : notTemporal;
  if (!own.isOn) {
    if (speaksPlainHttp2) return late;
    return tls.type === 'none' ? withoutTls : wantsTls(tls, own);
  }
  if (tls.type === 'none') return speaksPlainHttp2 ? speaksNoTls(own) : withoutTls;
  if (tls.type === 'refused') return explainAlert(tls.fault, own, nowMs);
  if (tls.fault !== null) return explainDistrust(tls.fault, tls.certificate, own);
  if (tls.reply === 'closed') return explainClosing(own, nowMs);
  return tls.reply === 'http2' ? late : notTemporal;
}

const certificateSettings = 'TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH';

function wantsTls(tls: TlsReply, own: OwnTls): Explanation {
  const issuer = tls.type === 'made' ? ` (here issued by ${tls.certificate.issuer})` : '';
  return {
    what: 'the server there speaks TLS, and this client does not',
    cure:
      `TEMPORAL_TLS=true, TEMPORAL_TLS_SERVER_CA_CERT_PATH=<its CA> if this machine does not trust the CA${issuer}, ` +
      `and for mTLS ${certificateSettings}${own.hasApiKey ? '; TEMPORAL_TLS=false turns TLS off' : ''}`,
  };
}

function speaksNoTls({ hasApiKey }: OwnTls): Explanation {
  return {
    what: 'the server there speaks no TLS, and this client does',
    cure: hasApiKey
      ? 'an address with TLS. An API key turns TLS on; TEMPORAL_TLS=false sends the key readable for everyone on the way'
      : 'an address with TLS, or unset TEMPORAL_TLS and the TEMPORAL_TLS_… variables where the network can be trusted',
  };
}

/** Explains by OpenSSL's code that a server's certificate is not trusted. */
function explainDistrust(fault: string, server: CertificateFacts, own: OwnTls): Explanation {
  if (/CERT_HAS_EXPIRED/.test(fault)) {
    return {
      what: `the server's certificate, or that of its CA, has expired (the server's is valid until ${formatDay(server.validTo / 1_000)})`,
      cure: 'renew it on the server, and compare the clock of this machine',
    };
  }
  if (/CERT_NOT_YET_VALID/.test(fault)) {
    return {
      what: `the server's certificate is valid only from ${formatDay(server.validFrom / 1_000)} on`,
      cure: 'compare the clocks of this machine and of the one that issued it',
    };
  }
  if (/ALTNAME_INVALID/.test(fault)) {
    const [first = '…'] = server.names;
    return {
      what: `the server's certificate is for ${server.names.join(', ')}, not for ${own.serverName}`,
      cure: `an address with that name, or TEMPORAL_TLS_SERVER_NAME=${first}`,
    };
  }
  return distrustedCa(server, own);
}

function distrustedCa({ issuer }: CertificateFacts, { caCertificates }: OwnTls): Explanation {
  if (caCertificates === 0) {
    return {
      what: 'TEMPORAL_TLS_SERVER_CA_CERT_PATH (or …_DATA) holds no certificate',
      cure: 'a PEM file with "-----BEGIN CERTIFICATE-----"',
    };
  }
  const trusted =
    caCertificates === null
      ? 'a CA that this machine trusts'
      : 'a CA of TEMPORAL_TLS_SERVER_CA_CERT_PATH';
  return {
    what: `the server's certificate is not signed by ${trusted}, but by ${issuer}`,
    cure: `TEMPORAL_TLS_SERVER_CA_CERT_PATH=<the certificate of that CA>`,
  };
}

/** Explains an alert with which the server breaks off, by OpenSSL's code and message. */
function explainAlert(fault: string, own: OwnTls, nowMs: number): Explanation {
  const aboutOwn = explainOwnCertificate(own, nowMs);
  if (aboutOwn !== null) return aboutOwn;
  if (/certificate.?expired/i.test(fault)) return expired(own.certificate);
  if (/certificate|unknown.?ca|handshake.?failure|access.?denied|decrypt.?error/i.test(fault)) {
    return explainCertificate(own.certificate);
  }
  if (/protocol.?version|unsupported.?protocol/i.test(fault)) {
    return {
      what: 'the server there speaks no version of TLS that this client speaks',
      cure: 'TLS 1.2 or 1.3 on the server',
    };
  }
  return { what: `the TLS handshake fails there: ${fault}`, cure: "read the server's log" };
}

/** A server that ends a connection without a word does not say why. */
function explainClosing(own: OwnTls, nowMs: number): Explanation {
  const aboutOwn = explainOwnCertificate(own, nowMs);
  if (aboutOwn !== null) return aboutOwn;
  const { what, cure } = explainCertificate(own.certificate);
  return { what: `${what}: it closes the connection after the TLS handshake`, cure };
}

function explainOwnCertificate({ certificate }: OwnTls, nowMs: number): Explanation | null {
  if (certificate === null) return null;
  if (certificate.validTo < nowMs) return expired(certificate);
  if (certificate.validFrom <= nowMs) return null;
  return {
    what: `the client certificate is valid only from ${formatDay(certificate.validFrom / 1_000)} on`,
    cure: 'compare the clocks of this machine and of the one that issued it',
  };
}

function expired(certificate: CertificateFacts | null): Explanation {
  const when = certificate === null ? '' : ` on ${formatDay(certificate.validTo / 1_000)}`;
  return {
    what: `the client certificate has expired${when}`,
    cure: `a new one in ${certificateSettings}. Workers read them at their start: restart them`,
  };
}

/** Explains that a server does not let a client in with its certificate, or without one. */
function explainCertificate(certificate: CertificateFacts | null): Explanation {
  if (certificate === null) {
    return {
      what: 'the server there requires a client certificate (mTLS), and none is set',
      cure: `set ${certificateSettings}`,
    };
  }
  const { names, issuer } = certificate;
  return {
    what: `the server there does not accept the client certificate of ${names.join(', ')}, issued by ${issuer}`,
    cure: `set ${certificateSettings}, to one of a CA that the server trusts for clients`,
  };
}

/** Explains an error of OpenSSL about the settings, thrown before any connection; null when it is none. */
export function explainTlsSettings(code: string): Explanation | null {
  if (!code.startsWith('ERR_OSSL_')) return null;
  if (code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH') {
    return {
      what: 'the client certificate and its key do not belong together',
      cure: `a pair in ${certificateSettings}`,
    };
  }
  return {
    what: `the client certificate or its key can't be read (${code})`,
    cure: `PEM files without a password in ${certificateSettings}`,
  };
}
