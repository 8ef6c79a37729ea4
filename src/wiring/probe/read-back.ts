import { createInvoicingService } from '../../service/client.ts';
import { readMerchantList } from '../../service/merchants/merchant-list.ts';
import type { Document } from '../../service-profile/place.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { idCandidates } from '../../service-profile/recognise/id-places.ts';
import type { RecordDelivery } from '../../domain/ports/ledger/delivery-ledger.ts';
import { createEventReader } from '../../webhooks/event-reader.ts';
import { judgeDelivery } from '../../webhooks/judge-delivery.ts';
import { createSignatureCheck } from '../../webhooks/signature/signature-check.ts';
import type { ServiceAccount } from '../account/open-service.ts';
import type { ProbeCalls } from './probe-calls.ts';
import { isProtected, type ProbeRecord } from './probe-service.ts';
import { probeInvoice, probeKey, type ProbeSubject } from './probe-subject.ts';
import type { KeptDelivery } from './temporary-receiver.ts';

const SAME_INVOICE = 'the same key and bytes bring the same invoice';
/** By the names of keys; what is less likely is no id of an invoice. */
const LIKELY_ID = 80;

/** What Lote itself makes of the service with the proposal. */
export interface ReadBack {
  readonly what: string;
  readonly said: string;
  readonly right: boolean;
}

/** What is read back. */
export interface ReadBackParts {
  readonly account: ServiceAccount;
  readonly application: string;
  readonly profile: ServiceProfile;
  readonly subject: ProbeSubject;
  readonly record: ProbeRecord;
  readonly calls: ProbeCalls;
  readonly deliveries: readonly KeptDelivery[];
  readonly secret: string | null;
  /** As it was registered; null: none was. */
  readonly webhookUrl: string | null;
}

/** Repeats what creates nothing through Lote's own client and receiver with the proposal in force. */
export async function readBack(parts: ReadBackParts): Promise<readonly ReadBack[]> {
  const { record } = parts;
  const list = await readList(parts);
  const id = record.invoice?.id ?? null;
  const answers = id !== null && isProtected(record.repeated, id) ? await readAnswers(parts, id) : [unprotected(id)];
  return [list, ...answers, ...(await readDeliveries(parts))];
}

/** A service may quote in its errors what it was sent. */
function withoutPersons(text: string, { legalName, email }: ProbeSubject): string {
  return [legalName, email].reduce((shown, one) => shown.replaceAll(one, '…'), text).replaceAll(/\d{6,}/g, '…');
}

/** Nothing is sent again that would be created again. */
function unprotected(id: string | null): ReadBack {
  const said =
    id === null ? 'no invoice is known' : 'they were answered with another one: the key protects from nothing';
  return { what: SAME_INVOICE, said, right: false };
}

async function readList({ calls, profile, record, subject }: ReadBackParts): Promise<ReadBack> {
  const what = 'the list of merchants is whole and has the merchant';
  const answer = await readMerchantList((path) => calls.get(path), { profile, baseUrl: calls.baseUrl });
  if (answer.kind === 'unreadable')
    return { what, said: `${answer.reason.code}: ${withoutPersons(answer.reason.message, subject)}`, right: false };
  const { nif, id } = record.merchant;
  const right = answer.merchants.some((one) => one.nif === nif && (id === null || one.merchantId === id));
  return {
    what,
    said: `${answer.merchants.length} ${answer.merchants.length === 1 ? 'merchant' : 'merchants'}`,
    right,
  };
}

async function readAnswers(parts: ReadBackParts, id: string): Promise<readonly ReadBack[]> {
  const { account, application, profile, subject, record } = parts;
  const merchantId = record.merchantId ?? '';
  const service = createInvoicingService({ ...account, application, profile });
  const bodyOf = (which: Parameters<typeof probeInvoice>[1]): string =>
    service.invoiceBody(probeInvoice(subject, which), merchantId);
  try {
    const key = probeKey(subject, `first ${merchantId}`);
    const repeated = await service.createInvoice(bodyOf('first'), key);
    const found: ReadBack[] = [
      {
        what: SAME_INVOICE,
        said: saidOf(repeated),
        right: repeated.kind === 'created' && repeated.serviceId === id,
      },
    ];
    if (found[0]?.right !== true) return found;
    // What was taken the first time may be taken again.
    const other = mayBeTaken(record.mismatch, id) ? null : await service.createInvoice(bodyOf('other-bytes'), key);
    const same = other?.kind === 'created' && other.serviceId === id;
    const refused = mayBeTaken(record.refused, null)
      ? null
      : await service.createInvoice(bodyOf('without-lines'), probeKey(subject, 'without lines'));
    const status = await service.getInvoice(id);
    const issued = status.kind === 'status' && status.status === 'issued';
    return [
      ...found,
      {
        what: 'the same key with other bytes is known',
        said: saidOf(other),
        right: other?.kind === 'key-mismatch' || same,
      },
      { what: 'an invoice without lines is refused', said: saidOf(refused), right: refused?.kind === 'refused' },
      {
        what: 'the invoice is issued',
        said: status.kind === 'status' ? status.status : `not now: ${status.reason.code}`,
        right: issued,
      },
    ];
  } finally {
    await service.close();
  }
}

/** Whether the answer holds the id of another invoice than this; an envelope that says no with 200 holds none. */
function mayBeTaken(answer: Document | null, id: string | null): boolean {
  if (answer === null) return true;
  const { status = 0 } = answer;
  const ids = status < 200 || status > 299 ? [] : idCandidates(answer, []).filter(({ score }) => score > LIKELY_ID);
  return ids.length > 0 && ids.every((one) => one.id !== id);
}

function saidOf(answer: { readonly kind: string } | null): string {
  if (answer === null) return 'not asked again, for it was taken, or not answered';
  const reason = 'reason' in answer ? (answer.reason as { readonly code: string }).code : null;
  return reason === null ? answer.kind : `${answer.kind}: ${reason}`;
}

async function readDeliveries(parts: ReadBackParts): Promise<readonly ReadBack[]> {
  const { profile, deliveries, secret, webhookUrl, record } = parts;
  if (webhookUrl === null) return [];
  const what = 'a delivery is signed and says that the invoice is issued';
  if (deliveries.length === 0) return [{ what, said: 'none came', right: false }];
  const check = createSignatureCheck({
    shape: profile.signature,
    url: () => webhookUrl,
    log: { warn: () => undefined },
  });
  const read = createEventReader({ ...profile, idPrefix: profile.invoice.idPrefix });
  const events: RecordDelivery['event'][] = [];
  const refused = new Set<string>();
  for (const { rawHeaders, body, pathSecret } of deliveries) {
    const head = { rawHeaders, now: Date.now(), ...(pathSecret !== undefined && { pathSecret }) };
    const verdict = judgeDelivery({ head, raw: body, secrets: secret === null ? [] : [secret] }, { check, read });
    if (verdict.kind === 'refuse') refused.add(verdict.why);
    // oxlint-disable-next-line no-await-in-loop -- a few deliveries
    else events.push(...(await verdict.deliveries).map(({ event }) => event));
  }
  const right = events.some((event) => event?.serviceId === record.invoice?.id && event?.verdict === 'issued');
  const said =
    refused.size === 0
      ? `${events.length} ${events.length === 1 ? 'event' : 'events'} read`
      : `refused: ${[...refused].join(', ')}`;
  return [{ what, said, right }];
}
