import { createHmac, timingSafeEqual } from 'node:crypto';
import { readClaims } from './claimed-signatures.ts';
import { HOLDS, refuse, type Refused, type SignatureVerdict } from './refusal.ts';
import type { RequestHead, SignatureShape } from './request-head.ts';
import { verifySharedSecret } from './shared-secret.ts';
import { compileTemplate, feed, type SignedContent } from './signed-content.ts';
import { createSigningKeys } from './signing-keys.ts';
import { readTimestamp } from './timestamp.ts';

/** Checks where deliveries come from. Any of the secrets may have signed, so that one can be replaced without a gap. */
export interface SignatureCheck {
  /** The part that needs no body: what fails here is refused before a byte of the body is read. */
  verifyHead(head: RequestHead, secrets: readonly string[]): SignatureVerdict;
  /** The whole check; `raw` is the body exactly as it was received. */
  verify(head: RequestHead, secrets: readonly string[], raw: Uint8Array): SignatureVerdict;
}

/** What a check is made of. */
export interface SignatureCheckParts {
  readonly shape: SignatureShape;
  /** The registered address, as {url} of the template; null: not known. */
  readonly url: () => string | null;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
}

/** Makes the check of a service profile. */
export function createSignatureCheck(parts: SignatureCheckParts): SignatureCheck {
  if (parts.shape.kind === 'hmac') return createHmacCheck(parts);
  const verify: SignatureCheck['verifyHead'] = (head, secrets) => verifySharedSecret(head, parts.shape, secrets);
  return { verifyHead: verify, verify };
}

interface Signed {
  readonly keys: readonly (string | Uint8Array)[];
  readonly digests: readonly Uint8Array[];
  readonly content: SignedContent;
}

/** HMAC over what the profile says (interface section 6: the raw body), compared in constant time. */
function createHmacCheck({ shape, url, log }: SignatureCheckParts): SignatureCheck {
  const keysOf = createSigningKeys(shape, log);
  const template = compileTemplate(shape.signed);

  function read(head: RequestHead, secrets: readonly string[]): Signed | Refused {
    const keys = keysOf(secrets);
    if (keys.length === 0) return refuse('no-secret');
    const claims = readClaims(head, shape);
    if ('ok' in claims) return claims;
    const timestamp = readTimestamp(head, shape, claims.parts);
    if (typeof timestamp !== 'string') return timestamp;
    const content = template(head, { timestamp, url: url() });
    return 'ok' in content ? content : { keys, digests: claims.digests, content };
  }

  return {
    verifyHead(head, secrets) {
      const signed = read(head, secrets);
      return 'ok' in signed ? signed : HOLDS;
    },
    verify(head, secrets, raw) {
      const signed = read(head, secrets);
      return 'ok' in signed ? signed : compare(signed, raw, shape);
    },
  };
}

function compare({ keys, digests, content }: Signed, raw: Uint8Array, { algorithm }: SignatureShape): SignatureVerdict {
  let matches = 0;
  for (const key of keys) {
    const expected = feed(createHmac(algorithm, key), content, raw).digest();
    // No early exit: the time taken must not show which secret is the right one.
    for (const digest of digests) matches += timingSafeEqual(expected, digest) ? 1 : 0;
  }
  return matches > 0 ? HOLDS : refuse('signature-wrong');
}
