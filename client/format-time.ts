/** Formats Unix epoch seconds as `2025-01-31 14:05` in UTC. */
export function formatTime(epochSeconds: number): string {
  return new Date(epochSeconds * 1_000).toISOString().slice(0, 16).replace('T', ' ');
}

/** Formats Unix epoch seconds as `2025-01-31` in UTC. */
export function formatDay(epochSeconds: number): string {
  return formatTime(epochSeconds).slice(0, 10);
}
