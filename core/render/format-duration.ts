/**
 * A span of time in words, for people.
 */

const units = [
  { seconds: 86_400, name: 'd' },
  { seconds: 3_600, name: 'h' },
  { seconds: 60, name: 'min' },
  { seconds: 1, name: 's' },
] as const;

/** `45 s`, `2 h`, `1.5 h`, `7 d`: the largest unit that fits, rounded to one decimal. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, seconds);
  const unit = units.find((u) => whole >= u.seconds) ?? units[3];
  return `${Number((whole / unit.seconds).toFixed(1))} ${unit.name}`;
}
