import { createHash, timingSafeEqual } from 'node:crypto';
import { headerLines } from '../header-lines.ts';
import { HOLDS, refuse, type Refused, type SignatureVerdict } from './refusal.ts';
import type { RequestHead, SignatureShape } from './request-head.ts';
import { usableSecrets } from './signing-keys.ts';

const MAX_HEADER = 4_096;
const BASIC = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i;
const COLON = 0x3a;

/** Checks a delivery that shows the secret itself, in constant time, against every secret; no body is needed. */
export function verifySharedSecret(
  head: RequestHead,
  shape: SignatureShape,
  secrets: readonly string[],
): SignatureVerdict {
  const usable = usableSecrets(secrets);
  if (usable.length === 0) return refuse('no-secret');
  const shown = shownSecret(head, shape);
  if (!(shown instanceof Uint8Array)) return shown;
  const found = digest(shown);
  let matches = 0;
  // No early exit: the time taken must not show which secret is the right one. Digests have the same length.
  for (const secret of usable) matches += timingSafeEqual(digest(secret), found) ? 1 : 0;
  return matches > 0 ? HOLDS : refuse('signature-wrong');
}

function digest(secret: string | Uint8Array): Uint8Array {
  return createHash('sha256').update(secret).digest();
}

function shownSecret(head: RequestHead, shape: SignatureShape): Uint8Array | Refused {
  if (shape.kind === 'path')
    return head.pathSecret === undefined || head.pathSecret === ''
      ? refuse('signature-missing')
      : Buffer.from(head.pathSecret);
  const lines = headerLines(head.rawHeaders, shape.kind === 'basic' ? 'Authorization' : shape.header);
  if (lines.length > 1) return refuse('signature-repeated');
  const text = (lines[0] ?? '').trim();
  if (text === '') return refuse('signature-missing');
  if (text.length > MAX_HEADER) return refuse('signature-malformed');
  return shape.kind === 'basic' ? passwordIn(text) : tokenIn(text, shape.prefix);
}

/** Node reads a header's bytes as Latin-1; this gives the same bytes back. */
function tokenIn(text: string, prefix: string): Uint8Array | Refused {
  return text.startsWith(prefix) && text.length > prefix.length
    ? Buffer.from(text.slice(prefix.length), 'latin1')
    : refuse('signature-malformed');
}

function passwordIn(text: string): Uint8Array | Refused {
  const encoded = BASIC.exec(text)?.[1];
  if (encoded === undefined) return refuse('signature-malformed');
  const pair = Buffer.from(encoded, 'base64');
  const colon = pair.indexOf(COLON);
  return colon < 0 ? refuse('signature-malformed') : pair.subarray(colon + 1);
}
