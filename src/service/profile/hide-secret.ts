/** A shorter secret is a stand-in in a test; hiding it everywhere would make texts unreadable. */
const SHORTEST = 8;

/** Replaces each occurrence of the secret in a text of the service by `[key]`. */
export function hideSecret(text: string, secret: string): string {
  return secret.length >= SHORTEST ? text.replaceAll(secret, '[key]') : text;
}

/** Services show a mask instead of a secret: several stars or dots, or an ellipsis. */
const MASK = /[*•●∙·]{3}|…|\.{3}/;
const SHORTEST_MADE = 8;
const FEWEST_CHARACTERS = 4;

/** Tells whether a text is a mask such as `********`: anyone could guess it and sign with it. */
export function isMasked(secret: string): boolean {
  return MASK.test(secret);
}

/** Tells whether a text can be a secret that a service has just made: it is not masked and hard to guess. */
export function isSecret(text: string): boolean {
  return text.length >= SHORTEST_MADE && new Set(text).size >= FEWEST_CHARACTERS && !isMasked(text);
}
