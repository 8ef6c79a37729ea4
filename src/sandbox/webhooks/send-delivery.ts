import { Agent, request } from 'undici';

/** One delivery, ready to be sent. */
export interface Sending {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** `arrived`: any 2xx. Everything else is tried again. */
export type Sent =
  | { readonly kind: 'arrived' }
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfterMs: number }
  | { readonly kind: 'unreachable'; readonly code: string };

/** Sends one delivery over HTTP and reports how the endpoint answered. */
export interface Sender {
  send(sending: Sending): Promise<Sent>;
  /** Ends what is on the wire; the deliveries stay owed. */
  close(): Promise<void>;
}

export interface SenderOptions {
  /** Connections to one receiver. */
  readonly connections: number;
  readonly timeoutMs: number;
}

// A receiver's answer means nothing beyond its status.
const MOST_ANSWER_BYTES = 64 * 1024;
const LONGEST_RETRY_AFTER_MS = 600_000;

/** Sends sealed deliveries over kept-alive connections; redirects are not followed. */
export function createSender({ connections, timeoutMs }: SenderOptions): Sender {
  const dispatcher = new Agent({
    connections,
    connectTimeout: timeoutMs,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return {
    async send({ url, body, headers }) {
      try {
        const answer = await request(url, { method: 'POST', headers, body, dispatcher });
        await answer.body.dump({ limit: MOST_ANSWER_BYTES });
        if (answer.statusCode >= 200 && answer.statusCode < 300) return { kind: 'arrived' };
        const retryAfterMs = retryAfterOf(answer.headers['retry-after']);
        return { kind: 'refused', status: answer.statusCode, retryAfterMs };
      } catch (error) {
        return { kind: 'unreachable', code: codeOf(error) };
      }
    },
    close: () => dispatcher.destroy(),
  };
}

function retryAfterOf(header: string | string[] | undefined): number {
  const seconds = typeof header === 'string' && /^\d{1,9}$/.test(header.trim()) ? Number(header) : 0;
  return Math.min(seconds * 1000, LONGEST_RETRY_AFTER_MS);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}
