import { defaultPayloadConverter } from '@temporalio/common';
import type { DataConverter, Payload } from '@temporalio/common';

/** The details of a heartbeat; null when there are none, or when something else wrote them. */
export async function readHeartbeat(
  dataConverter: DataConverter | undefined,
  payloads: readonly Payload[],
): Promise<Readonly<Record<string, unknown>> | null> {
  let decoded = [...payloads];
  try {
    for (const codec of (dataConverter?.payloadCodecs ?? []).toReversed()) {
      decoded = await codec.decode(decoded);
    }
    const [first] = decoded;
    const value: unknown = first ? defaultPayloadConverter.fromPayload(first) : null;
    return isRecord(value) ? value : null;
  } catch {
    // Nothing to show, and no reason to end a watch.
    return null;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
