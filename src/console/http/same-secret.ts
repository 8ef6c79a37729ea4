import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares hashes, so that neither length nor content shows in the time. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
