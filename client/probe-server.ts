import { X509Certificate } from 'node:crypto';
import { connect as connectSocket, isIP } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { ConnectionOptions } from '@temporalio/client';
import type { CertificateFacts, OwnTls, Sighting, TlsReply } from './explain-connection.ts';

/** Milliseconds. A command that fails must not keep its user waiting for the reason. */
const probeTimeoutMs = 1_500;

/** First bytes of an HTTP/2 client: the preface and an empty SETTINGS frame (RFC 9113, section 3.4). */
const http2Greeting = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const settingsFrame = 4;

type TlsOptions = ConnectionOptions['tls'];

/** Address and credentials of a connection that failed. */
export interface ProbedServer {
  readonly address: string;
  readonly connectionOptions: Pick<ConnectionOptions, 'tls' | 'apiKey'>;
}

/**
 * Connects twice, with TLS and without, and says hello, because gRPC hides why it can't connect. No request is made and no
 * key is sent. Never throws.
 */
export async function probeServer({ address, connectionOptions }: ProbedServer): Promise<Sighting> {
  const place = splitAddress(address);
  const [plain, tls] = await Promise.all([
    greetInPlain(place),
    greetWithTls(place, connectionOptions.tls),
  ]);
  if (plain.type === 'unreachable') return plain;
  const { isHttp2, isSilent } = plain;
  return { type: 'connected', speaksPlainHttp2: isHttp2, isSilent, tls };
}

/** Summarizes the settings of a connection for `explainSighting`. */
export function readOwnTls({ address, connectionOptions }: ProbedServer): OwnTls {
  const { tls, apiKey } = connectionOptions;
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = fieldsOf(tls);
  return {
    isOn: isOn(tls) || (tls === undefined && apiKey !== undefined),
    hasApiKey: apiKey !== undefined,
    caCertificates:
      serverRootCACertificate === undefined
        ? null
        : (toText(serverRootCACertificate).match(/-----BEGIN [A-Z ]*CERTIFICATE-----/g) ?? [])
            .length,
    serverName: serverNameOverride ?? splitAddress(address).host,
    certificate: clientCertPair === undefined ? null : readCertificate(clientCertPair.crt),
  };
}

type TlsFields = Exclude<TlsOptions, boolean | null | undefined>;

function fieldsOf(tls: TlsOptions): Partial<TlsFields> {
  return typeof tls === 'object' && tls !== null ? tls : {};
}

function isOn(tls: TlsOptions): boolean {
  return tls !== undefined && tls !== null && tls !== false;
}

interface Place {
  readonly host: string;
  readonly port: number;
}

type PlainReply =
  | Extract<Sighting, { type: 'unreachable' }>
  | { readonly type: 'connected'; readonly isHttp2: boolean; readonly isSilent: boolean };

function greetInPlain(place: Place): Promise<PlainReply> {
  return new Promise((resolve) => {
    const socket = connectSocket(place);
    let isConnected = false;
    const finish = (code: string | null, isHttp2 = false, isSilent = false): void => {
      socket.destroy();
      resolve(
        isConnected ? { type: 'connected', isHttp2, isSilent } : { type: 'unreachable', code },
      );
    };
    const timer = setTimeout(() => finish(null, false, true), probeTimeoutMs);
    socket.once('close', () => clearTimeout(timer));
    socket.once('connect', () => {
      isConnected = true;
      socket.write(http2Greeting);
    });
    socket.once('data', (data) => finish(null, isSettings(data)));
    socket.once('end', () => finish(null));
    socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code ?? null));
  });
}

function isSettings(data: Uint8Array): boolean {
  return data[3] === settingsFrame;
}

function greetWithTls({ host, port }: Place, tls: TlsOptions): Promise<TlsReply> {
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = fieldsOf(tls);
  const serverName = serverNameOverride ?? host;
  return new Promise((resolve) => {
    const socket = connectTls({
      host,
      port,
      ALPNProtocols: ['h2'],
      // The faults of the certificate are read instead, so that it can be described. Nothing is sent over this connection.
      rejectUnauthorized: false,
      ...(isIP(serverName) === 0 && { servername: serverName }),
      ...(serverRootCACertificate && { ca: toText(serverRootCACertificate) }),
      ...(clientCertPair && { cert: toText(clientCertPair.crt), key: toText(clientCertPair.key) }),
    });
    let made: Omit<Extract<TlsReply, { type: 'made' }>, 'reply'> | null = null;
    const finish = (reply: TlsReply): void => {
      socket.destroy();
      resolve(reply);
    };
    const end = (reply: 'http2' | 'closed' | 'other'): void =>
      finish(made === null ? { type: 'none' } : { ...made, reply });
    const timer = setTimeout(() => end('other'), probeTimeoutMs);
    socket.once('close', () => {
      clearTimeout(timer);
      end('closed');
    });
    socket.once('secureConnect', () => {
      made = { type: 'made', ...judgeServer(socket) };
      socket.write(http2Greeting);
    });
    socket.once('data', (data) => end(isSettings(data) ? 'http2' : 'other'));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const fault = `${error.code ?? ''} ${error.message}`.trim();
      if (/alert/i.test(fault)) finish({ type: 'refused', fault });
      else end('closed');
    });
  });
}

function judgeServer(socket: TLSSocket): {
  readonly fault: string | null;
  readonly certificate: CertificateFacts;
} {
  // Node declares it as an Error, and gives a code.
  const fault: unknown = socket.authorizationError;
  const certificate = socket.getPeerX509Certificate();
  return {
    fault: socket.authorized ? null : String(fault),
    certificate:
      certificate === undefined
        ? { names: ['none'], issuer: 'an unnamed CA', validFrom: 0, validTo: 0 }
        : describeCertificate(certificate),
  };
}

/** Reads the first certificate of a PEM text; null when it can't be read. */
function readCertificate(pem: Uint8Array): CertificateFacts | null {
  try {
    return describeCertificate(new X509Certificate(pem));
  } catch {
    return null;
  }
}

function describeCertificate(certificate: X509Certificate): CertificateFacts {
  const { subject, issuer, subjectAltName, validFrom, validTo } = certificate;
  const names = (subjectAltName ?? '')
    .split(', ')
    .flatMap((name) => /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1] ?? []);
  return {
    names: names.length > 0 ? names : [lineOf(subject)],
    issuer: lineOf(issuer),
    validFrom: Date.parse(validFrom),
    validTo: Date.parse(validTo),
  };
}

/** A distinguished name in one line: Node puts each part into a line of its own. */
function lineOf(name: string): string {
  return name.split('\n').join(', ') || 'an unnamed CA';
}

function toText(pem: Uint8Array): string {
  return Buffer.from(pem).toString('utf8');
}

function splitAddress(address: string): Place {
  const match = /^\[?(?<host>.*?)\]?(?::(?<port>\d{1,5}))?$/.exec(address);
  const port = Number(match?.groups?.['port'] ?? 7233);
  return { host: match?.groups?.['host'] ?? address, port: port <= 65_535 ? port : 0 };
}
