import { explainRefusal } from '../../../client/explain-refusal.ts';
import { explainSighting, explainTlsSettings } from '../../../client/explain-connection.ts';
import type { CertificateFacts, OwnTls, TlsReply } from '../../../client/explain-connection.ts';

const nowMs = Date.parse('2026-06-01T12:00:00Z');
const certificate: CertificateFacts = {
  names: ['temporal.example.com'],
  issuer: 'CN=company',
  validFrom: Date.parse('2026-01-01'),
  validTo: Date.parse('2026-12-31'),
};
const clientCertificate = { ...certificate, names: ['CN=worker'] };
const tlsOff: OwnTls = {
  isOn: false,
  hasApiKey: false,
  caCertificates: null,
  serverName: 'temporal.internal',
  certificate: null,
};
const tlsOn = { ...tlsOff, isOn: true };
const mtls = { ...tlsOn, caCertificates: 1, certificate: clientCertificate };

const made = (fault: string | null, reply: 'http2' | 'closed' | 'other' = 'other'): TlsReply => ({
  type: 'made',
  fault,
  certificate,
  reply,
});
const alert = (fault: string): TlsReply => ({ type: 'refused', fault });
const required = alert(
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED tlsv13 alert certificate required',
);

const explain = (
  tls: TlsReply,
  own: OwnTls,
  speaksPlainHttp2 = false,
  isSilent = false,
): string => {
  const sighting = { type: 'connected', speaksPlainHttp2, isSilent, tls } as const;
  const { what, cure } = explainSighting(sighting, own, nowMs);
  return `${what}. Try: ${cure}`;
};

it.each([
  [
    'a CA of its own',
    made('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    tlsOn,
    /not signed by a CA that this machine trusts, but by CN=company\. Try: TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
  ],
  [
    'another CA',
    made('SELF_SIGNED_CERT_IN_CHAIN'),
    mtls,
    /not signed by a CA of TEMPORAL_TLS_SERVER_CA_CERT_PATH, but by CN=company/,
  ],
  [
    'a CA file without a certificate',
    made('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'),
    { ...mtls, caCertificates: 0 },
    /TEMPORAL_TLS_SERVER_CA_CERT_PATH .*holds no certificate\. Try: a PEM file/,
  ],
  [
    'an expired certificate',
    made('CERT_HAS_EXPIRED'),
    mtls,
    /server's certificate.* has expired .*valid until 2026-12-31\)\. Try: renew it on the server/,
  ],
  [
    'a clock that is wrong',
    made('CERT_NOT_YET_VALID'),
    mtls,
    /valid only from 2026-01-01 on\. Try: compare the clocks/,
  ],
  [
    'another host name',
    made('ERR_TLS_CERT_ALTNAME_INVALID'),
    mtls,
    /is for temporal\.example\.com, not for temporal\.internal\. Try: .*TEMPORAL_TLS_SERVER_NAME=temporal\.example\.com$/,
  ],
  [
    'no TLS there',
    { type: 'none' } as const,
    mtls,
    /speaks no TLS, and this client does\. Try: .*unset TEMPORAL_TLS/,
    true,
  ],
  [
    'no TLS there, for a key',
    { type: 'none' } as const,
    { ...tlsOn, hasApiKey: true },
    /speaks no TLS.*TEMPORAL_TLS=false sends the key readable/,
    true,
  ],
  [
    'TLS there',
    made('SELF_SIGNED_CERT_IN_CHAIN'),
    tlsOff,
    /speaks TLS, and this client does not\. Try: TEMPORAL_TLS=true.*CN=company.*TEMPORAL_TLS_CLIENT_CERT_PATH/,
  ],
  ['TLS there, with an alert', required, tlsOff, /speaks TLS, and this client does not/],
  [
    'no client certificate',
    required,
    { ...tlsOn, caCertificates: 1 },
    /requires a client certificate \(mTLS\), and none is set\. Try: set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH/,
  ],
  [
    'no client certificate, TLS 1.2',
    alert('ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'),
    tlsOn,
    /requires a client certificate/,
  ],
  [
    'no client certificate, without a word',
    made(null, 'closed'),
    tlsOn,
    /requires a client certificate.*closes the connection/,
  ],
  [
    "another CA's client certificate",
    alert('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA'),
    mtls,
    /does not accept the client certificate of CN=worker, issued by CN=company\. Try: .*a CA that the server trusts/,
  ],
  [
    "another CA's client certificate, without a word",
    made(null, 'closed'),
    mtls,
    /does not accept the client certificate/,
  ],
  [
    'an expired client certificate',
    alert('ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE'),
    { ...mtls, certificate: { ...clientCertificate, validTo: Date.parse('2026-05-30') } },
    /client certificate has expired on 2026-05-30\. Try: .*restart them/,
  ],
  [
    'an expired client certificate by the clock of the server',
    alert('ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED'),
    mtls,
    /client certificate has expired/,
  ],
  [
    'a client certificate of tomorrow',
    made(null, 'closed'),
    { ...mtls, certificate: { ...clientCertificate, validFrom: Date.parse('2026-06-02') } },
    /client certificate is valid only from 2026-06-02 on/,
  ],
  ['an old TLS', alert('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'), mtls, /no version of TLS/],
  [
    'an alert that has no rule',
    alert('ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR'),
    mtls,
    /handshake fails there: ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR\. Try: read the server's log/,
  ],
])('explains %s', (_case, tls, own, said, speaksPlainHttp2 = false) => {
  expect(explain(tls, own, speaksPlainHttp2)).toMatch(said);
});

it.each([
  ['a web server', { type: 'none' } as const, tlsOff],
  ['a web server behind TLS', made(null, 'other'), mtls],
])('knows no better cure for %s than another address', (_case, tls, own) => {
  expect(explain(tls, own)).toBe(
    'something listens there, but it does not answer as a Temporal server. Try: null',
  );
});

it.each([
  ['speaks HTTP/2', { type: 'none' } as const, tlsOff, true, false],
  ['speaks HTTP/2 with TLS', made(null, 'http2'), mtls, false, false],
  ['says nothing', { type: 'none' } as const, tlsOff, false, true],
  ['says nothing to a client with TLS', { type: 'none' } as const, mtls, false, true],
])('takes what %s for a server that may be busy', (_case, tls, own, plain, isSilent) => {
  expect(explain(tls, own, plain, isSilent)).toMatch(
    /does not answer as a Temporal server in time: it is busy, or it is none\. Try: the same command again in a minute.*npm run dev.*TEMPORAL_ADDRESS/,
  );
});

it('explains a pair that is none, and a file that is none', () => {
  expect(explainTlsSettings('ERR_OSSL_X509_KEY_VALUES_MISMATCH')?.what).toMatch(
    /do not belong together/,
  );
  expect(explainTlsSettings('ERR_OSSL_PEM_NO_START_LINE')?.what).toMatch(/can't be read/);
  expect(explainTlsSettings('ERR_INVALID_URL')).toBeNull();
});

const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const token = (claims: object, alg = 'RS256', signature = 'c2lnbmVk'): string =>
  `${encode({ alg, typ: 'JWT' })}.${encode(claims)}.${signature}`;
const inAnHour = nowMs / 1_000 + 3_600;

const refuse = (apiKey: string | null, text = 'Request unauthorized'): string => {
  const { what, cure } = explainRefusal({ text, apiKey, namespace: 'prod', nowMs });
  return `${what}. Try: ${cure}`;
};

it.each([
  ['no key', null, /asks for an API key, and none is set\. Try: TEMPORAL_API_KEY=.*prod/],
  [
    'a key that is no token',
    'plain-key',
    /key is not valid for namespace prod\. Try: check TEMPORAL_API_KEY and TEMPORAL_NAMESPACE/,
  ],
  [
    'an expired token',
    token({ exp: nowMs / 1_000 - 60 }),
    /expired at 2026-06-01 11:59 UTC \(now 2026-06-01 12:00 UTC\)\. Try: a new one .*restart them/,
  ],
  [
    'a token of tomorrow',
    token({ nbf: inAnHour }),
    /valid only from 2026-06-01 13:00 UTC on\. Try: compare the clocks/,
  ],
  [
    'a token without a signature',
    token({ exp: inAnHour }, 'none', ''),
    /token without a signature/,
  ],
  ['a token that says it has none', token({}, 'none'), /token without a signature/],
  [
    'a token for another namespace',
    token({ permissions: ['test:write'] }),
    /has only test:write, so nothing in namespace prod\. Try: .*"prod:write"/,
  ],
  [
    'a token without permissions',
    token({ permissions: [] }),
    /has no permission, so nothing in namespace prod/,
  ],
  [
    'a token that may read',
    token({ permissions: ['prod:read', 'prod:worker'] }),
    /only read, worker in namespace prod, which is not enough.*"prod:write", which clients and workers need/,
  ],
  [
    'a token that may write: search attributes are registered, or another issuer signed it',
    token({ permissions: ['prod:write'] }),
    /only write.*either this needs admin, or .* signed it\. Try: .*"prod:admin" for the one who registers the search attributes, signed with a key that the server knows/,
  ],
  [
    'a token of another issuer',
    token({ exp: inAnHour, permissions: ['prod:admin'] }),
    /signature or issuer is not one that the server knows/,
  ],
  [
    'a token with rights everywhere, of another issuer',
    token({ permissions: ['temporal-system:admin'] }),
    /signature or issuer/,
  ],
])('explains the refusal of %s', (_case, apiKey, said) => {
  const text = refuse(apiKey);
  expect(text).toMatch(said);
  expect(text).not.toContain(apiKey ?? 'no key was given');
});

it("quotes the server's words when they say more than no", () => {
  expect(refuse('plain-key', 'Jwt is expired')).toMatch(/^the API key expired\. Try:/);
  expect(refuse(null, 'Jwt is missing')).toMatch(/none is set \(Jwt is missing\)/);
});
