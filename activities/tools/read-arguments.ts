import { isRecord } from '../../core/is-record.ts';

/**
 * The arguments of a tool call. Some models and gateways send them as a string that holds the JSON (seed 002, case 6.1).
 *
 * @returns what the string holds when that is an object; everything else as it is, for the tool's schema to judge.
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
