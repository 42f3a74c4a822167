/**
 * Names in a message, for a model or a person to choose from.
 */
import { cutText } from './cut-text.ts';

const nameCharsMax = 120;

/** `"a", "b" and 3 more`. @param max Names that are shown. */
export function listNames(names: readonly string[], max = 30): string {
  if (names.length === 0) return 'none';
  const shown = names
    .slice(0, max)
    .map((name) => JSON.stringify(cutText(name, nameCharsMax)))
    .join(', ');
  return names.length > max ? `${shown} and ${names.length - max} more` : shown;
}
