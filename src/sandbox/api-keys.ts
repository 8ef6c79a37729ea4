import { createHash } from 'node:crypto';

const TEST_KEY = /^sk_test_[A-Za-z0-9_-]{1,128}$/;

/** Returns the id of the application of an Authorization header, or null. */
export type ApiKeys = (authorization: string | undefined) => string | null;

export interface ApiKeyOptions {
  readonly keys: readonly string[];
  /** True if any well-formed `sk_test_` key makes an application of its own. */
  readonly open: boolean;
}

/** Each `sk_test_` key is one application. @throws if a listed key does not have that form. */
export function apiKeys({ keys, open }: ApiKeyOptions): ApiKeys {
  const known = new Map<string, string>();
  for (const key of keys) {
    if (!TEST_KEY.test(key)) {
      throw new Error('Starting the sandbox: every API key must be `sk_test_` and 1 to 128 letters, digits, - or _.');
    }
    known.set(key, applicationIdOf(key));
  }
  return (authorization) => {
    const key = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (key === undefined) return null;
    return known.get(key) ?? (open && TEST_KEY.test(key) ? applicationIdOf(key) : null);
  };
}

/** Returns the application id of a key: a hash, so that the books contain no key. */
export function applicationIdOf(key: string): string {
  return `app_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
}
