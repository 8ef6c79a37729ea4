import type { RecordDelivery } from '../domain/ports/ledger/delivery-ledger.ts';
import type { EventReader, EventReaderShapes } from './event-reader.ts';
import type { SignatureRefusal } from './signature/refusal.ts';
import type { RequestHead, SignatureShape } from './signature/request-head.ts';
import type { SignatureCheck } from './signature/signature-check.ts';

/** The parts of the service profile that a receiver needs. */
export interface ReceiverShapes extends EventReaderShapes {
  readonly signature: SignatureShape;
}

/** One delivery, read in full and not checked yet. */
export interface ReceivedRequest {
  readonly head: RequestHead;
  /** The body exactly as it was received. */
  readonly raw: Uint8Array;
  readonly secrets: readonly string[];
}

/** What becomes of a delivery: rows for the ledger, at least one, or a refusal. */
export type DeliveryVerdict =
  | {
      readonly kind: 'record';
      readonly why: null;
      readonly deliveries: readonly RecordDelivery[] | Promise<readonly RecordDelivery[]>;
    }
  | { readonly kind: 'refuse'; readonly why: SignatureRefusal };

/** Decides about one delivery. The body is not parsed before its signature is verified. */
export function judgeDelivery(
  { head, raw, secrets }: ReceivedRequest,
  { check, read }: { readonly check: SignatureCheck; readonly read: EventReader },
): DeliveryVerdict {
  const signature = check.verify(head, secrets, raw);
  if (!signature.ok) return { kind: 'refuse', why: signature.why };
  const deliveries = read({ raw, rawHeaders: head.rawHeaders, receivedAt: head.now });
  return { kind: 'record', why: null, deliveries };
}
