import { createHmac } from 'node:crypto';

/** Header of a delivery that carries its signature. */
export const SIGNATURE_HEADER = 'X-Service-Signature';

/** HMAC-SHA-256 over the raw bytes of the body, in lower-case hex, without a prefix. */
export function signatureOf(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body, 'utf8').digest('hex');
}
