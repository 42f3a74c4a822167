import type { Summary } from './statistics.ts';

const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

/** `1,234`, and below ten `1.23`. */
export function formatNumber(value: number): string {
  return (Math.abs(value) < 10 ? fine : plain).format(value);
}

/** `118 ms (103–164)`: the median and its range. */
export function formatSummary({ median, min, max }: Summary, unit: string): string {
  const range = min === max ? '' : ` (${formatNumber(min)}–${formatNumber(max)})`;
  return `${formatNumber(median)} ${unit}${range}`;
}

const bytesPerMegabyte = 1_000_000;

export function formatMegabytes(bytes: number): string {
  return `${formatNumber(bytes / bytesPerMegabyte)} MB`;
}

/** `50 / 400 / 800`. */
export function formatList(values: readonly number[]): string {
  return values.map(formatNumber).join(' / ');
}
