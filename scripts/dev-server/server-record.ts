import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../settings.ts';

/** Ports of this home's server, so that a later command with other ports finds it. */
export interface ServerRecord {
  readonly temporal_port: number;
  readonly ui_port: number;
}

/**
 * Records the ports once the server is ready. The record may outlive the server: readers check which process holds the
 * port.
 */
export function recordServer(settings: Settings): void {
  const record: ServerRecord = { temporal_port: settings.temporalPort, ui_port: settings.uiPort };
  writeFileSync(recordPath(settings), `${JSON.stringify(record)}\n`);
}

/** @returns undefined when no server was ever started for this home, or the record is broken */
export function readServerRecord(settings: Pick<Settings, 'home'>): ServerRecord | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(recordPath(settings), 'utf8'));
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is ServerRecord {
  if (typeof value !== 'object' || value === null) return false;
  if (!('temporal_port' in value) || !('ui_port' in value)) return false;
  return Number.isInteger(value.temporal_port) && Number.isInteger(value.ui_port);
}

function recordPath(settings: Pick<Settings, 'home'>): string {
  return join(settings.home, 'temporal', 'server.json');
}
