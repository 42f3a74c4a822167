/** `2025-01-31 14:05` in UTC, from Unix epoch seconds. */
export function formatTime(epochSeconds: number): string {
  return new Date(epochSeconds * 1_000).toISOString().slice(0, 16).replace('T', ' ');
}

/** `45 s`, `12 min`, `3 h`, `2 d`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}
