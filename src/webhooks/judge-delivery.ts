import { createHash } from 'node:crypto';
import type { RecordDelivery } from '../domain/ports/ledger.ts';
import { readEvent, type EventShape } from './event.ts';
import { verifySignature, type SignatureShape, type SignatureRefusal } from './signature.ts';

/** The parts of the service profile that a receiver needs. */
export interface ReceiverShapes {
  readonly signature: SignatureShape;
  readonly event: EventShape;
}

/** One delivery, read in full and not checked yet. `now` is epoch milliseconds. */
export interface ReceivedRequest {
  readonly raw: Uint8Array;
  readonly headerValues: readonly string[];
  readonly secrets: readonly string[];
  readonly shapes: ReceiverShapes;
  readonly now: number;
}

export type DeliveryVerdict =
  | { readonly kind: 'record'; readonly why: null; readonly delivery: RecordDelivery }
  | { readonly kind: 'refuse'; readonly why: SignatureRefusal };

/** Decides about one delivery. The body is not parsed before its signature is verified. */
export function judgeDelivery(request: ReceivedRequest): DeliveryVerdict {
  const { raw, shapes } = request;
  const signature = verifySignature({
    raw,
    headerValues: request.headerValues,
    secrets: request.secrets,
    shape: shapes.signature,
  });
  if (!signature.ok) return { kind: 'refuse', why: signature.why };
  const sha256 = createHash('sha256').update(raw).digest('hex');
  return {
    kind: 'record',
    why: null,
    delivery: { sha256, raw, receivedAt: request.now, event: readEvent(raw, shapes.event) },
  };
}

/** Every value of a header, line by line: Node's own `headers` joins repeated lines into one. */
export function headerLines(rawHeaders: readonly string[], name: string): readonly string[] {
  const wanted = name.toLowerCase();
  return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === wanted);
}
