/**
 * Folds a text to the plain words that a model reads, because instructions may be disguised so that a search fails.
 *
 * Invariants:
 *   FLD1. Full-width, styled and accented letters, Cyrillic and Greek ones in Latin words, letters set apart, and
 *         invisible characters between them give the same folded text as the plain word.
 *   FLD2. Plain text of one script stays as it is, but for its accents; line breaks stay.
 */
import { removeInvisible } from '../text/remove-invisible.ts';

/** Look-alikes of Latin letters. Each is replaced in words that are otherwise Latin. */
const lookAlikes: Readonly<Record<string, string>> = {
  а: 'a',
  е: 'e',
  о: 'o',
  р: 'p',
  с: 'c',
  у: 'y',
  х: 'x',
  і: 'i',
  ѕ: 's',
  ј: 'j',
  ԁ: 'd',
  һ: 'h',
  ո: 'n',
  ν: 'v',
  ο: 'o',
  α: 'a',
  ι: 'i',
  ρ: 'p',
  τ: 't',
  υ: 'u',
  А: 'A',
  В: 'B',
  Е: 'E',
  І: 'I',
  К: 'K',
  М: 'M',
  Н: 'H',
  О: 'O',
  Р: 'P',
  С: 'C',
  Т: 'T',
  Х: 'X',
  Ο: 'O',
  Ι: 'I',
  Α: 'A',
  Ε: 'E',
  Ν: 'N',
  Ρ: 'P',
  Τ: 'T',
};

/** Matches `i g n o r e` and `i-g-n-o-r-e`. At least five letters, or initials in a row would count as a word. */
const setApart = /(?<![\p{L}\p{N}])\p{L}(?:[ .\-_*·]\p{L}){4,}(?![\p{L}\p{N}])/gu;

export function foldDisguise(text: string): string {
  return removeInvisible(text)
    .text.normalize('NFKD')
    .replace(/[\u0300-\u036f]/gu, '')
    .normalize('NFC')
    .replace(/[\u2018\u2019\u02bc]/gu, "'")
    .replace(/\p{L}+/gu, foldWord)
    .replace(setApart, (letters) => letters.replace(/[^\p{L}]/gu, ''));
}

function foldWord(word: string): string {
  if (!/[A-Za-z]/.test(word) || /^[A-Za-z]+$/.test(word)) return word;
  return Array.from(word, (letter) => lookAlikes[letter] ?? letter).join('');
}
