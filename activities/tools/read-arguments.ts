import { isRecord } from '../../core/is-record.ts';

/**
 * Reads the arguments of a tool call. Some models and gateways send them as a string that holds the JSON (seed 002,
 * case 6.1).
 *
 * @returns the content of the string when that is an object; everything else unchanged, for the tool's schema to check.
 */
export function readArguments(input: unknown): unknown {
  if (typeof input !== 'string') return input ?? {};
  try {
    const value: unknown = JSON.parse(input);
    return isRecord(value) ? value : input;
  } catch {
    return input;
  }
}
