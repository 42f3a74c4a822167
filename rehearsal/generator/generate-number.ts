import type { JsonObject } from '../json.ts';

/** The bounds of a number schema; `least` and `most` are allowed themselves, `above` and `below` are not. */
interface Bounds {
  readonly least: number;
  readonly above: number;
  readonly most: number;
  readonly below: number;
}

function boundsOf(schema: JsonObject): Bounds {
  const bound = (name: string, fallback: number): number => {
    const value = schema[name];
    return typeof value === 'number' ? value : fallback;
  };
  return {
    least: bound('minimum', -Infinity),
    above: bound('exclusiveMinimum', -Infinity),
    most: bound('maximum', Infinity),
    below: bound('exclusiveMaximum', Infinity),
  };
}

function isWithin(value: number, { least, above, most, below }: Bounds): boolean {
  return value >= least && value > above && value <= most && value < below;
}

/** A multiple of `step`: the index itself where it is allowed, else counted up from the low or down from the high end. */
function generateMultiple(bounds: Bounds, step: number, index: number): number {
  const low = Math.max(bounds.least, bounds.above);
  const high = Math.min(bounds.most, bounds.below);
  const first = Math.ceil(low / step) * step;
  const last = Math.floor(high / step) * step;
  const upwards = first + (index - (first > bounds.above ? 1 : 0)) * step;
  const downwards = last - (index - (last < bounds.below ? 1 : 0)) * step;
  const candidates = [Math.ceil(index / step) * step, upwards, downwards, first, last];
  return candidates.find((value) => isWithin(value, bounds)) ?? index;
}

function generateContinuous(bounds: Bounds, index: number): number {
  const low = Math.max(bounds.least, bounds.above);
  const high = Math.min(bounds.most, bounds.below);
  const between = low + ((high - low) * index) / (index + 1);
  const candidates = [index, low + index, high - index, between];
  return candidates.find((value) => isWithin(value, bounds)) ?? index;
}

/**
 * A number within the schema's bounds.
 *
 * @param index makes numbers of one list differ, from 1.
 */
export function generateNumber(schema: JsonObject, index: number, isInteger: boolean): number {
  const multipleOf = schema['multipleOf'];
  const step = typeof multipleOf === 'number' ? multipleOf : 1;
  const bounds = boundsOf(schema);
  return isInteger || typeof multipleOf === 'number'
    ? generateMultiple(bounds, step, index)
    : generateContinuous(bounds, index);
}
