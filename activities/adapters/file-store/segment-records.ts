import { createHash } from 'node:crypto';

/** An artifact under its address, or a ledger entry under its key. */
export interface SegmentRecord {
  /** 64 lower-case hex digits. */
  readonly key: string;
  /** 0 for an artifact; for a ledger entry the number of the attempt, from 1. */
  readonly attempt: number;
  /** Unix epoch milliseconds, later than every earlier record of the same process, but for what was copied from another store. */
  readonly time: number;
  readonly body: Uint8Array;
}

/** A record's header, and where its body is. */
export interface RecordPlace extends Omit<SegmentRecord, 'body'>, Span {}

/** Bytes of a file. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

export interface Scan {
  readonly places: readonly RecordPlace[];
  /** End of the last whole record. What follows is torn, or still being written. */
  readonly end: number;
  /** Damaged bytes between records. */
  readonly gaps: readonly Span[];
}

/** Reads part of a file; shorter at its end. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>;

const magic = Buffer.from('pwr1');
const keyAt = 20;
const checkAt = 52;
const checkBytes = 8;
const headerBytes = checkAt + checkBytes;
const windowBytes = 1024 * 1024;

/**
 * Encodes a record: a header of 60 bytes, then the body. Numbers are big-endian.
 *
 * The header is `pwr1`, attempt (4), length of the body (4), time (8, a double), key (32) and the first 8 bytes of a SHA-256
 * over the segment's id and all this. The id in it makes a copy of a record inside a body no record. A body's own
 * integrity is up to its content: the address of an artifact, the seal of an entry.
 *
 * @param id of the segment.
 */
export function encodeRecord(
  id: string,
  { key, attempt, time, body }: SegmentRecord,
): readonly Uint8Array[] {
  const header = Buffer.alloc(headerBytes);
  magic.copy(header);
  header.writeUInt32BE(attempt, 4);
  header.writeUInt32BE(body.byteLength, 8);
  header.writeDoubleBE(time, 12);
  header.write(key, keyAt, 'hex');
  checkOf(id, header).copy(header, checkAt);
  return [header, body];
}

/**
 * Finds the records of a segment by their headers, without reading long bodies.
 *
 * GR1. A record whose header or end is missing is no record; after the last whole one that is the torn tail.
 * GR2. After a damaged header the next whole record is found, and the bytes between are a gap.
 */
export async function scanRecords(
  id: string,
  readAt: ReadAt,
  from: number,
  size: number,
): Promise<Scan> {
  const bytesAt = readByWindow(readAt);
  const places: RecordPlace[] = [];
  const gaps: Span[] = [];
  let at = from;
  while (at < size) {
    // Each record says where the next one begins.
    // oxlint-disable-next-line no-await-in-loop
    const place = readHeader(id, await bytesAt(at, headerBytes), at);
    if (place !== null && place.offset + place.length <= size) {
      places.push(place);
      at = place.offset + place.length;
    } else {
      // oxlint-disable-next-line no-await-in-loop
      const next = await findNext(id, bytesAt, at + 1, size);
      if (next === null) break;
      gaps.push({ offset: at, length: next - at });
      at = next;
    }
  }
  return { places, end: at, gaps };
}

/** Returns where the next whole record begins; null when there is none. */
async function findNext(
  id: string,
  bytesAt: ReadAt,
  from: number,
  size: number,
): Promise<number | null> {
  for (let at = from; at + headerBytes <= size;) {
    // oxlint-disable-next-line no-await-in-loop
    const bytes = await bytesAt(at, windowBytes);
    const found = bytes.indexOf(magic);
    if (found === -1) {
      // The magic may be cut by the end of the window.
      at += Math.max(1, bytes.length - magic.length + 1);
    } else {
      at += found;
      // oxlint-disable-next-line no-await-in-loop
      const place = readHeader(id, await bytesAt(at, headerBytes), at);
      if (place !== null && place.offset + place.length <= size) return at;
      at += 1;
    }
  }
  return null;
}

function readHeader(id: string, header: Buffer, at: number): RecordPlace | null {
  if (header.length < headerBytes || !header.subarray(0, magic.length).equals(magic)) return null;
  if (!checkOf(id, header).equals(header.subarray(checkAt, headerBytes))) return null;
  return {
    key: header.toString('hex', keyAt, checkAt),
    attempt: header.readUInt32BE(4),
    time: header.readDoubleBE(12),
    offset: at + headerBytes,
    length: header.readUInt32BE(8),
  };
}

function checkOf(id: string, header: Buffer): Buffer {
  const hash = createHash('sha256').update(id).update(header.subarray(0, checkAt)).digest();
  return hash.subarray(0, checkBytes);
}

/** Reads ahead, because most records are small. */
function readByWindow(readAt: ReadAt): ReadAt {
  let start = 0;
  let window: Buffer = Buffer.alloc(0);
  return async (offset, length) => {
    if (offset < start || offset + length > start + window.length) {
      start = offset;
      window = await readAt(offset, Math.max(length, windowBytes));
    }
    return window.subarray(offset - start, offset - start + length);
  };
}
