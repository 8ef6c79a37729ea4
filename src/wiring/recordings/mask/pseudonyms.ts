import { createHmac } from 'node:crypto';

/** Replaces texts under a key: equal ones stay equal, and each keeps its length and what kind of character stands where. */
export interface Pseudonyms {
  /** Letters become other letters, digits other digits; everything else stays. */
  of(text: string): string;
  /** The same for what is secret: of it only the length stays. */
  ofSecret(text: string): string;
  /** Only numbers of five digits and more. */
  ofNumbersIn(text: string): string;
}

/** Shorter numbers are counts, statuses and parts of dates. */
const LONG_NUMBER = /\d{5,}/g;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Makes the pseudonyms of a key; nobody finds the texts without it. */
export function createPseudonyms(key: Uint8Array): Pseudonyms {
  const numbers = (text: string): string =>
    text.replace(LONG_NUMBER, (run) => replaced(run, stream(key, `number:${run}`)));

  function of(text: string): string {
    const letters = replaced(text, stream(key, `text:${text}`));
    // A number is the same wherever it stands.
    return [...text.matchAll(LONG_NUMBER)].reduce(
      (whole, { 0: run, index }) => whole.slice(0, index) + numbers(run) + whole.slice(index + run.length),
      letters,
    );
  }

  return {
    of,
    ofSecret: (text) => replaced(text.replaceAll(/[^\s]/gu, 'x'), stream(key, `secret:${text}`)),
    ofNumbersIn: numbers,
  };
}

/** An endless row of bytes that only the key and the text decide. */
function* stream(key: Uint8Array, text: string): Generator<number, never> {
  for (let block = 0; ; block += 1) yield* createHmac('sha256', key).update(`${block}:${text}`).digest();
}

/** By UTF-16 units, so that positions stay. */
function replaced(text: string, bytes: Generator<number, never>): string {
  let result = '';
  for (const character of text) result += otherCharacter(character, bytes.next().value);
  return result;
}

function otherCharacter(character: string, byte: number): string {
  if (character === '0' || (character >= '1' && character <= '9')) {
    // A number keeps its length as a number: its first digit stays one that may stand first.
    return character === '0' ? String(byte % 10) : String(1 + (byte % 9));
  }
  if (/^\p{Lu}$/u.test(character)) return (LETTERS[byte % 26] ?? 'X').toUpperCase().padEnd(character.length, 'X');
  if (/^[\p{L}\p{M}\p{N}\p{So}\p{Sk}\p{Cs}\p{Co}\p{Cn}]$/u.test(character))
    return (LETTERS[byte % 26] ?? 'x').padEnd(character.length, 'x');
  return character;
}
