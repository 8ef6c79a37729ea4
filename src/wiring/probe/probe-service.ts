import { setTimeout as sleep } from 'node:timers/promises';
import { LoteError } from '../../domain/errors.ts';
import { invoiceBody } from '../../service/invoice-body.ts';
import { merchantBody, webhookBody } from '../../service/request-bodies.ts';
import { type Document, is2xx } from '../../service-profile/place.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { eventAbout } from '../../service-profile/recognise/delivered-event.ts';
import { isFinalEvent } from '../../service-profile/recognise/event-places.ts';
import { idCandidates, placesOfId } from '../../service-profile/recognise/id-places.ts';
import { meaningOf } from '../../service-profile/recognise/known-words.ts';
import { merchantList } from '../../service-profile/recognise/merchant-items.ts';
import type { RecordedInvoice, Recording } from '../../service-profile/recognise/recording.ts';
import { lastStatusWord } from '../../service-profile/recognise/status-words.ts';
import { answered, type ProbeCalls } from './probe-calls.ts';
import { probeInvoice, probeKey, sentValues, type ProbeInvoice, type ProbeSubject } from './probe-subject.ts';
import type { KeptDelivery } from './temporary-receiver.ts';

/** What a probe works with. */
export interface ProbeParts {
  readonly calls: ProbeCalls;
  /** Says how requests are written. */
  readonly profile: ServiceProfile;
  readonly subject: ProbeSubject;
  /** What has come to the temporary receiver; null: none is registered. */
  readonly deliveries: (() => readonly KeptDelivery[]) | null;
  /** The address to register; null: none is. */
  readonly webhookUrl: string | null;
  /** How long an invoice may take to settle. */
  readonly waitMs: number;
  /** Told before each step. */
  readonly say: (step: string) => void;
}

/** What a probe has recorded, but for its deliveries. */
export interface ProbeRecord extends Omit<Recording, 'deliveries'> {
  /** The answer to the registration; null: nothing was registered, or no answer came. */
  readonly registered: Document | null;
  /** The merchant that the service took an invoice for; null: none. */
  readonly merchantId: string | null;
}

const MOST_CANDIDATES = 3;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** GETs of one invoice. */
const MOST_LOOKS = 16;

/**
 * Asks a service what its profile leaves open: creates a merchant and an invoice, repeats it, and asks what becomes of it.
 * @throws LoteError `service-unreachable`, `service-unauthorized`
 */
export async function probeService(given: ProbeParts): Promise<ProbeRecord> {
  const { subject, say } = given;
  say('asking for the list of merchants');
  const before = await firstList(given);
  const registered = await register(given);
  const parts = { ...given, webhookUrl: mayDeliver(given, registered) ? given.webhookUrl : null };
  const { merchant, list } = await probeMerchant(parts, before);
  const { invoice, refusal } = await createInvoice(parts, merchant.candidates, 'first');
  const base = {
    registered,
    list,
    merchant: { nif: subject.nif, created: merchant.created, ...provedMerchant(merchant, invoice?.merchantId ?? null) },
    merchantId: invoice?.merchantId ?? null,
  };
  if (invoice === null)
    return {
      ...base,
      invoice: null,
      repeated: null,
      mismatch: null,
      refused: refusal ?? merchant.refusal,
      failing: null,
    };
  say('the same key and bytes again, the same key with other bytes, an invoice without lines');
  const { merchantId, key } = invoice;
  const again = async (which: ProbeInvoice, under: string): Promise<Document | null> =>
    parts.calls.post(invoicePost(parts, { which, merchantId, key: under }));
  const repeated = invoice.id === null ? null : await again('first', key);
  const mismatch = invoice.id === null || !isProtected(repeated, invoice.id) ? null : await again('other-bytes', key);
  const refused = await again('without-lines', probeKey(subject, 'without lines'));
  const followed = await follow(parts, invoice);
  return { ...base, invoice: followed, repeated, mismatch, refused, failing: await probeFailure(parts, merchantId) };
}

async function firstList({ calls, profile }: ProbeParts): Promise<Document> {
  const list = answered(await calls.get(profile.requests.listMerchants.path));
  const where = `${calls.baseUrl}${profile.requests.listMerchants.path}`;
  if (list === null)
    throw new LoteError('service-unreachable', `Probing: no answer came from ${where}. Nothing was created.`);
  if (list.status === 401 || list.status === 403)
    throw new LoteError(
      'service-unauthorized',
      `Probing: ${where} answered ${list.status}: INVOICING_API_KEY must be a key of this service. Nothing was created.`,
    );
  if (!is2xx(list))
    throw new LoteError(
      'service-list-unreadable',
      `Probing: ${where} answered ${list.status}: requests.listMerchants.path of the profile must be that of the list. Nothing was created.`,
    );
  return list;
}

/** No event is waited for where none can come. */
function mayDeliver({ profile }: ProbeParts, registered: Document | null): boolean {
  return !profile.webhook.register || (registered !== null && is2xx(registered));
}

async function register({ calls, profile, webhookUrl, say }: ProbeParts): Promise<Document | null> {
  if (webhookUrl === null || !profile.webhook.register) return null;
  say('registering the temporary receiver');
  const { path, body } = profile.requests.registerWebhook;
  return calls.post({ path, body: webhookBody(webhookUrl, body), idempotencyKey: null });
}

/** A key that was answered with another invoice protects from nothing, and would create one more. */
export function isProtected(repeated: Document | null, id: string): boolean {
  return repeated !== null && (!is2xx(repeated) || placesOfId(repeated, id).length > 0);
}

interface ProbedMerchant {
  readonly created: Document | null;
  /** Ids that it may have, the likeliest first. */
  readonly candidates: readonly string[];
  /** The list holds this id beside the tax number. */
  readonly listed: string | null;
  /** An answer that created nothing. */
  readonly refusal: Document | null;
}

async function probeMerchant(
  parts: ProbeParts,
  before: Document,
): Promise<{ merchant: ProbedMerchant; list: Document }> {
  const { calls, profile, subject, say } = parts;
  const known = idInList(before, subject.nif, []);
  if (known !== null)
    return { merchant: { created: null, candidates: [known], listed: known, refusal: null }, list: before };
  say('creating a merchant');
  const { path, body: template } = profile.requests.createMerchant;
  const answer = await calls.post({
    path,
    body: merchantBody(subject, template),
    idempotencyKey: probeKey(subject, 'merchant'),
  });
  const list = answered(await calls.get(profile.requests.listMerchants.path)) ?? before;
  const possible = answer === null || !is2xx(answer) ? [] : idCandidates(answer, sentValues(subject));
  const ids = [...new Set(possible.map(({ id }) => id))];
  const listed = idInList(list, subject.nif, ids);
  const candidates = [...new Set([...(listed === null ? [] : [listed]), ...ids])].slice(0, MOST_CANDIDATES);
  const refusal = ids.length === 0 ? answer : null;
  return { merchant: { created: ids.length === 0 ? null : answer, candidates, listed, refusal }, list };
}

/** The id beside this tax number in a page of the list: one of those that are likely, or the likeliest; null: it is not there. */
function idInList(list: Document, nif: string, likely: readonly string[]): string | null {
  const items = merchantList(list, { nif, id: null })?.items ?? [];
  const item = items.find((body) => JSON.stringify(body).includes(nif));
  if (item === undefined) return null;
  const proved = likely.find((id) => placesOfId({ body: item }, id).length > 0);
  return proved ?? (likely.length > 0 ? null : (idCandidates({ body: item }, [nif])[0]?.id ?? null));
}

function provedMerchant(
  { listed, candidates }: ProbedMerchant,
  used: string | null,
): { id: string | null; proof: string } {
  if (listed !== null) return { id: listed, proof: 'the list has it beside the tax number' };
  if (used !== null) return { id: used, proof: 'the service took an invoice for it' };
  return { id: candidates[0] ?? null, proof: 'by the name of the key' };
}

interface CreatedInvoice extends RecordedInvoice {
  readonly merchantId: string;
  readonly key: string;
}

/** Creates an invoice for the first merchant that the service takes. */
async function createInvoice(
  parts: ProbeParts,
  merchants: readonly string[],
  which: ProbeInvoice,
): Promise<{ readonly invoice: CreatedInvoice | null; readonly refusal: Document | null }> {
  const { calls, subject, say } = parts;
  let refusal: Document | null = null;
  say(which === 'failing' ? 'creating an invoice that must fail' : 'creating an invoice');
  for (const merchantId of merchants) {
    const key = probeKey(subject, `${which} ${merchantId}`);
    // oxlint-disable-next-line no-await-in-loop -- the next merchant is tried only if this one is refused
    const created = await calls.post(invoicePost(parts, { which, merchantId, key }));
    refusal = created;
    if (created === null || !is2xx(created)) continue;
    const ids = idCandidates(created, [...sentValues(subject), merchantId]).map(({ id }) => id);
    // oxlint-disable-next-line no-await-in-loop
    const proved = await provedId(parts, [...new Set(ids)]);
    if (proved === null && ids.length === 0) continue;
    const shown = proved === null ? [] : [proved.shown];
    return { invoice: { id: proved?.id ?? null, created, shown, merchantId, key }, refusal: null };
  }
  return { invoice: null, refusal };
}

function invoicePost(
  { profile, subject }: ProbeParts,
  { which, merchantId, key }: { readonly which: ProbeInvoice; readonly merchantId: string; readonly key: string },
) {
  const { path, body: template } = profile.requests.createInvoice;
  return { path, body: invoiceBody(probeInvoice(subject, which), merchantId, template), idempotencyKey: key };
}

/** An id is one that a GET finds, and that its answer holds too. */
async function provedId(parts: ProbeParts, ids: readonly string[]): Promise<{ id: string; shown: Document } | null> {
  for (const id of ids.slice(0, MOST_CANDIDATES)) {
    // oxlint-disable-next-line no-await-in-loop -- the likeliest first
    const shown = await getInvoice(parts, id);
    if (shown !== null && is2xx(shown) && placesOfId(shown, id).length > 0) return { id, shown };
  }
  return null;
}

async function getInvoice({ calls, profile }: ProbeParts, id: string): Promise<Document | null> {
  return answered(await calls.get(profile.requests.getInvoice.path.replaceAll('{id}', encodeURIComponent(id))));
}

/** Asks for an invoice until it has a last word and, where events may come, until its event came. */
async function follow(parts: ProbeParts, { id, created, shown }: RecordedInvoice): Promise<RecordedInvoice> {
  if (id === null) return { id, created, shown };
  parts.say('waiting for what becomes of it');
  const looks = [...shown];
  const end = Date.now() + parts.waitMs;
  let pause = FIRST_PAUSE_MS;
  let looksAfterEvent = 0;
  while (Date.now() < end && looks.length < MOST_LOOKS) {
    // oxlint-disable-next-line no-await-in-loop
    await sleep(Math.min(pause, end - Date.now()));
    pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS);
    const hadEvent = hasFinalEvent(parts, id);
    // oxlint-disable-next-line no-await-in-loop
    const look = await getInvoice(parts, id);
    if (look !== null && is2xx(look)) looks.push(look);
    if (hadEvent) looksAfterEvent += 1;
    const isFinal = meaningOf(lastStatusWord(looks) ?? '') !== null;
    // An answer may come later than the event: two that agree are the last word.
    const settled = looksAfterEvent >= 2 && lastStatusWord(looks) === lastStatusWord(looks.slice(0, -1));
    if (settled || (isFinal && parts.webhookUrl === null)) break;
  }
  return { id, created, shown: looks };
}

function hasFinalEvent({ deliveries }: ProbeParts, id: string): boolean {
  const events = (deliveries?.() ?? []).map(({ document }) => eventAbout(document, id)).filter((one) => one !== null);
  return events.some(isFinalEvent);
}

async function probeFailure(parts: ProbeParts, merchantId: string): Promise<RecordedInvoice | null> {
  if (parts.subject.failingTaxCode === null) return null;
  const { invoice: failing } = await createInvoice(parts, [merchantId], 'failing');
  return failing === null ? null : follow(parts, failing);
}
