import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError, which Commander shows with the option's name */
export function readWholeNumber(typed: string): number {
  if (!/^[0-9]{1,9}$/.test(typed) || Number(typed) < 1) {
    throw new InvalidArgumentError('Expected a whole number of at least 1.');
  }
  return Number(typed);
}
