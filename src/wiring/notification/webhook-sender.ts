import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { LoteError } from '../../domain/errors.ts';

const TIMEOUT_MS = 30_000;
const GONE = 410;

export interface WebhookMessage {
  /** The same for each try. */
  readonly id: string;
  /** JSON. */
  readonly body: string;
}

export interface WebhookTarget {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
  readonly timeoutMs?: number;
}

/**
 * POSTs a message that is signed as Standard Webhooks say. Redirects are not followed: the address that was configured
 * is the one that gets it.
 * @throws LoteError `message-unsent`; `message-refused` when the address says that nobody is there any more (410)
 */
export async function postSigned(target: WebhookTarget, { id, body }: WebhookMessage, now: number): Promise<void> {
  const timestamp = String(Math.floor(now / 1_000));
  const status = await post(target, body, {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signatureOf(target.secret, `${id}.${timestamp}.${body}`)}`,
  });
  if (status >= 200 && status < 300) return;
  const found = `Sending the message of a night by webhook: the answer must be 2xx, found ${status}.`;
  if (status === GONE)
    throw new LoteError(
      'message-refused',
      `${found} The receiver has left this address: set LOTE_MESSAGE_URL to its new address.`,
    );
  throw new LoteError('message-unsent', `${found} It is tried again; check what answers at LOTE_MESSAGE_URL.`);
}

async function post(
  { url, timeoutMs = TIMEOUT_MS }: WebhookTarget,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await request(url, { method: 'POST', body, headers, signal });
    // Nothing of the answer is read: whoever answers without an end holds nobody.
    answer.body.on('error', () => undefined).destroy();
    return answer.statusCode;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    throw new LoteError(
      'message-unsent',
      `Sending the message of a night by webhook: LOTE_MESSAGE_URL must answer, found ${code}. It is tried again.`,
    );
  }
}

function signatureOf(secret: string, signed: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/u, ''), 'base64');
  return createHmac('sha256', key).update(signed).digest('base64');
}
