import { shownWord } from '../domain/profile-misfit.ts';
import { shownPlace } from '../service/profile/place.ts';
import type { ReceiverShapes } from './event-reader.ts';
import type { SignatureRefusal } from './signature-check.ts';
import type { RecordDelivery } from '../ledger/webhooks/deliveries.ts';

/** Times are milliseconds. */
export interface DeliveryFindingsOptions {
  /** Records a finding: its code and its sentence, or null when the finding no longer holds. Never rejects. */
  readonly note: (code: string, message: string | null) => Promise<void>;
  readonly shapes: ReceiverShapes;
  readonly now: () => number;
}

/** Milliseconds between two notes of the same finding, because a sender repeats its deliveries. */
const EVERY_MS = 2_000;
/** Unknown events before Lote reports them: events of other types may come first. */
const MOST_UNKNOWN = 5;
const MOST_TYPES = 3;

/** The findings of one receiver. */
export type DeliveryFindings = ReturnType<typeof createDeliveryFindings>;

/** Tells the calibration of the service profile why deliveries of one receiver do not fit the profile. */
export function createDeliveryFindings({ note, shapes, now }: DeliveryFindingsOptions) {
  const notedAt = new Map<string, number>();
  const types = new Set<string>();
  let isRefusing = false;
  const counts = { refused: 0, fitted: 0, unreadable: 0, unknown: 0 };

  function report(code: string, message: () => string): void {
    const at = now();
    if (Math.abs(at - (notedAt.get(code) ?? Number.NEGATIVE_INFINITY)) < EVERY_MS) return;
    notedAt.set(code, at);
    void note(code, message());
  }

  function look({ event }: RecordDelivery): void {
    if (event === null) {
      counts.unreadable += 1;
      return report('events-unreadable', () => unreadableText(shapes, counts.unreadable));
    }
    if (event.verdict !== null || event.serviceId === null) return;
    counts.unknown += 1;
    if (types.size < MOST_TYPES) types.add(event.type);
    if (counts.unknown >= MOST_UNKNOWN) report('events-unknown', () => unknownText(types, counts.unknown));
  }

  return {
    refused(why: SignatureRefusal): void {
      counts.refused += 1;
      isRefusing = true;
      report(
        'deliveries-refused',
        () =>
          `${counts.refused} of ${counts.refused + counts.fitted} deliveries refused: ${WORDS[why](shapes.signature)}`,
      );
    },
    /** Called with deliveries that the receiver has verified and stored. */
    fitted(deliveries: readonly RecordDelivery[]): void {
      counts.fitted += 1;
      if (isRefusing) void note('deliveries-refused', null);
      isRefusing = false;
      for (const delivery of deliveries) look(delivery);
    },
  };
}

const CHECK = 'Correct the service profile (`lote profile check --live` shows what is received).';

function unreadableText({ event }: ReceiverShapes, times: number): string {
  const places = `no type at ${shownPlace(event.type)} (event.type) or no id at ${shownPlace(event.invoiceId)} (event.invoiceId)`;
  return `${times} deliveries have a right signature, and cannot be read: ${places}. ${CHECK}`;
}

function unknownText(types: ReadonlySet<string>, times: number): string {
  const words = [...types].map((type) => shownWord(type)).join(', ');
  return `Events of type ${words} mean nothing to the profile: ${times} events are about invoices and say nothing final. Look at event.issued and event.failed of the service profile.`;
}

const SECRET = 'Look at WEBHOOK_SECRET, or at webhook.secret of the service profile.';

const WORDS: Readonly<Record<SignatureRefusal, (shape: ReceiverShapes['signature']) => string>> = {
  'no-secret': () => `no usable secret is known. ${SECRET}`,
  'signature-missing': ({ header }) => `none has the header ${header} (signature.header). ${CHECK}`,
  'signature-malformed': ({ header, encoding, algorithm, prefix }) =>
    `${header} does not hold one ${encoding} of ${algorithm}${prefix === '' ? '' : ` after "${prefix}"`} (signature.encoding, algorithm, prefix, separator). ${CHECK}`,
  'signature-wrong': ({ signed }) => `the secret does not fit ${signed} (signature.signed). ${SECRET}`,
  'signed-header-missing': ({ signed }) => `a header that signature.signed names does not stand there once: ${signed}.`,
  'timestamp-unreadable': ({ timestamp }) =>
    `no time of signing can be read at ${timestamp ?? 'signature.timestamp'} (signature.timestamp).`,
  'timestamp-outside-tolerance': ({ toleranceSeconds }) =>
    `the time of signing is more than ${toleranceSeconds} s away (signature.toleranceSeconds). Compare this machine's clock with the service's.`,
};
