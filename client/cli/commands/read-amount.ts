import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError, which Commander shows with the option's name */
export function readAmount(typed: string): number {
  const amount = Number(typed);
  if (!/^[0-9]{1,9}(?:\.[0-9]{1,6})?$/.test(typed) || amount <= 0) {
    throw new InvalidArgumentError('Expected a number above 0, as in 2.50.');
  }
  return amount;
}
