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
