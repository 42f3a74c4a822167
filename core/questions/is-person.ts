import { answererNames, assumingAnswerers } from '../../contracts/names.ts';

const nobody: readonly string[] = [
  ...assumingAnswerers,
  answererNames.planner,
  answererNames.engine,
];

/** Returns true for an answer that a person signed: no default, no assumption, not the planner and not the engine. */
export function isPerson(answeredBy: string): boolean {
  return !nobody.includes(answeredBy);
}
