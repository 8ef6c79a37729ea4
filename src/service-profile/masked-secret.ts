/** What services show in place of a secret that they do not tell again: stars, dots or an ellipsis in a row. */
const MASK = /[*•●∙·]{3}|…|\.{3}/;
const SHORTEST = 8;
const FEWEST_CHARACTERS = 4;

/** Whether a text stands for a secret that is not told, such as `********`: whoever guesses it could sign with it. */
export function isMasked(secret: string): boolean {
  return MASK.test(secret);
}

/** Whether a text can be the secret that a service has just made: nobody guesses it. */
export function isSecret(text: string): boolean {
  return text.length >= SHORTEST && new Set(text).size >= FEWEST_CHARACTERS && !isMasked(text);
}
