/** A shorter secret is a stand-in in a test; hiding it everywhere would spoil the text. */
const SHORTEST = 8;

/** Whether a secret is long enough to be hidden. */
export function isHidden(secret: string): boolean {
  return secret.length >= SHORTEST;
}

/** A text of the service with the secret replaced by `[key]`, however often it is quoted. */
export function hideSecret(text: string, secret: string): string {
  return isHidden(secret) ? text.replaceAll(secret, '[key]') : text;
}

/** What services show in place of a secret that they do not tell again: stars, dots or an ellipsis in a row. */
const MASK = /[*•●∙·]{3}|…|\.{3}/;
const SHORTEST_MADE = 8;
const FEWEST_CHARACTERS = 4;

/** Whether a text stands for a secret that is not told, such as `********`: a person who guesses it could sign with it. */
export function isMasked(secret: string): boolean {
  return MASK.test(secret);
}

/** Whether a text can be the secret that a service has just made: it cannot be guessed. */
export function isSecret(text: string): boolean {
  return text.length >= SHORTEST_MADE && new Set(text).size >= FEWEST_CHARACTERS && !isMasked(text);
}
