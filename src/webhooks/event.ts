import { readPointer } from '../domain/json-pointer.ts';
import type { RecordDelivery } from '../domain/ports/ledger.ts';

/** Where a delivery's parts stand: part of the service profile. */
export interface EventShape {
  readonly type: string;
  readonly invoiceId: string;
  readonly eventId: string;
  readonly reasonCode: string;
  readonly reasonMessage: string;
}

type Event = NonNullable<RecordDelivery['event']>;

/** Names as published (interface section 6); any other event is stored and says nothing final. */
const VERDICTS: Readonly<Record<string, 'issued' | 'failed'>> = {
  'invoice.issued': 'issued',
  'invoice.failed': 'failed',
};

const INVOICE_ID = /^inv_[A-Za-z0-9_-]{1,250}$/;
/** Printable ASCII without spaces: it is stored as text, where PostgreSQL refuses NUL. */
const WORD = /^[\x21-\x7e]{1,200}$/;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
const MAX_MESSAGE = 200;

/**
 * Reads correctly signed bytes; null when they cannot be read, or name no invoice of which they say something final.
 */
export function readEvent(raw: Uint8Array, shape: EventShape): Event | null {
  const document = parse(raw);
  const type = word(readPointer(document, shape.type));
  if (type === null) return null;
  const id = readPointer(document, shape.invoiceId);
  const serviceId = typeof id === 'string' && INVOICE_ID.test(id) ? id : null;
  const verdict = Object.hasOwn(VERDICTS, type) ? (VERDICTS[type] ?? null) : null;
  if (verdict !== null && serviceId === null) return null;
  return {
    type,
    eventId: word(readPointer(document, shape.eventId)),
    serviceId,
    verdict,
    reason: verdict === 'failed' ? reasonOf(document, shape) : null,
  };
}

function parse(raw: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw)) as unknown;
  } catch {
    return undefined;
  }
}

function word(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && WORD.test(text) ? text : null;
}

function reasonOf(document: unknown, shape: EventShape): Event['reason'] {
  const code = word(readPointer(document, shape.reasonCode));
  const said = readPointer(document, shape.reasonMessage);
  const message =
    typeof said === 'string'
      ? said
          .slice(0, MAX_MESSAGE * 10)
          .replace(UNPRINTABLE, ' ')
          .trim()
      : '';
  if (code === null && message === '') return null;
  return {
    code:
      code === null
        ? 'failed'
        : code
            .slice(0, 64)
            .toLowerCase()
            .replace(/[_.:\s]+/g, '-'),
    message: Array.from(message).slice(0, MAX_MESSAGE).join(''),
  };
}
