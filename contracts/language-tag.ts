import { z } from 'zod';

/** A primary language of two or three letters; Intl alone takes words such as "german" for one. */
const beginsWithCode = /^[A-Za-z]{2,3}(?:-|$)/;

/** A BCP 47 language tag: `de`, `pt-BR`, `zh-Hant`. At most 35 characters, as the standard advises. */
export const LanguageTag = z
  .string()
  .max(35)
  .refine(isLanguageTag, 'expected a BCP 47 language tag. Try: "de" or "pt-BR"');

function isLanguageTag(text: string): boolean {
  if (!beginsWithCode.test(text)) return false;
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
