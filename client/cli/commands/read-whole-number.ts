import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError, which Commander shows with the option's name */
export function readWholeNumber(typed: string): number {
  return readFrom(1, typed);
}

/** As `readWholeNumber`, where none at all may be wanted. */
export function readWholeNumberOrNone(typed: string): number {
  return readFrom(0, typed);
}

function readFrom(least: number, typed: string): number {
  if (!/^[0-9]{1,9}$/.test(typed) || Number(typed) < least) {
    throw new InvalidArgumentError(`Expected a whole number of at least ${least}.`);
  }
  return Number(typed);
}
