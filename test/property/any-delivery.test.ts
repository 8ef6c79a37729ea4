import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ServiceProfile } from '../../src/service/profile/profile.ts';
import { createEventReader } from '../../src/webhooks/event-reader.ts';
import { createSignatureCheck } from '../../src/webhooks/signature-check.ts';
import {
  exactly,
  Tally,
  anyRecipe,
  made,
  put,
  type Filling,
  holdsId,
  isWordOf,
  standsAt,
  type Came,
} from '../support/any-service/any-answer.ts';
import { PROFILES } from '../support/any-service/profiles.ts';
import type { RecordDelivery } from '../../src/ledger/webhooks/deliveries.ts';

const URL = 'https://receiver.example/webhooks';
const NOW = Date.UTC(2026, 10, 23, 3);
/** What somebody does who has no right to. */
const FORGERIES = ['another secret', 'another body', 'no signature', 'anything', 'long ago'] as const;

type Forgery = (typeof FORGERIES)[number];
type Signature = ServiceProfile['signature'];

function fillingsOf({ event, invoice: { idPrefix } }: ServiceProfile): readonly Filling[] {
  const id = `${idPrefix}A1`;
  const parts: readonly Filling[] = [
    { place: event.type, right: [event.issued[0], event.failed[0], event.issued[0]?.toUpperCase(), 'invoice.other'] },
    { place: event.invoiceId, right: [id, id, `/v1/invoices/${id}`, `${id}0`] },
    { place: event.eventId, right: ['evt_1', 7] },
    { place: event.reasonCode, right: ['no_such_tax'] },
  ];
  if (event.payload === null && event.items === null) return parts;
  const inside = (kind: 'issued' | 'failed'): unknown => {
    const filled = parts.map(({ place }, at) => [place, [event[kind][0], id, 'evt_1', 'no'][at]] as const);
    return filled.reduce<unknown>((item, [place, value]) => {
      const [one = ''] = [place ?? ''].flat();
      return one.startsWith('/') ? put(item, one.split('/').slice(1), value) : item;
    }, {});
  };
  const listed = event.items === null ? [] : [[inside('issued')], [inside('issued'), inside('failed'), {}], []];
  const text = (value: unknown): string =>
    event.payload?.encoding === 'base64'
      ? Buffer.from(JSON.stringify(value)).toString('base64')
      : JSON.stringify(value);
  const packed = event.payload === null ? [] : [text(inside('issued')), text(inside('failed')), text([]), '{'];
  return [...parts, { place: event.items, right: listed }, { place: event.payload?.at ?? null, right: packed }];
}

const SECRET_BYTES = Buffer.from('a secret of 32 bytes, as it were');

function secretOf({ secret: { prefix, encoding } }: Signature, bytes: Buffer): string {
  return prefix + (encoding === 'text' ? bytes.toString('hex') : bytes.toString(encoding));
}

interface Signed {
  /** Names and values in turn. */
  readonly lines: readonly string[];
}

/** Signs as the service would, by the profile alone; `headers` are what the delivery has beside. */
function signed(
  signature: Signature,
  {
    bytes,
    secret,
    at,
    headers,
  }: { bytes: Uint8Array; secret: string; at: number; headers: Readonly<Record<string, string>> },
): Signed {
  const { header, prefix, separator, timestamp } = signature;
  const time = String(Math.floor(at / 1_000));
  const { prefix: before, encoding } = signature.secret;
  const text = secret.slice(before.length);
  const hmac = createHmac(signature.algorithm, encoding === 'text' ? text : Buffer.from(text, encoding));
  for (const part of signature.signed.split(/(\{[^{}]*\})/)) {
    const name = /^\{header:(.*)\}$/.exec(part)?.[1]?.toLowerCase();
    if (part === '{body}') hmac.update(bytes);
    else if (part === '{timestamp}') hmac.update(time);
    else if (part === '{url}') hmac.update(URL);
    else hmac.update(name === undefined ? part : (headers[name] ?? ''));
  }
  const own = prefix + hmac.digest(signature.encoding);
  const [where, ...rest] = (timestamp ?? '').split(':');
  const name = rest.join(':');
  if (where === 'part') return { lines: [header, [`${name}${time}`, own].join(separator)] };
  return { lines: [header, own, ...(where === 'header' ? [name, time] : [])] };
}

/** Whether a forgery of this kind changes anything that this profile proves. */
function isForged({ timestamp }: Signature, forgery: Forgery | null): boolean {
  return forgery === 'long ago' ? timestamp !== null : forgery !== null;
}

const CASES = PROFILES.map(({ name, profile }) => ({
  ...{ name, profile, fillings: fillingsOf(profile), secret: secretOf(profile.signature, SECRET_BYTES) },
  check: createSignatureCheck(profile.signature, () => URL),
  read: createEventReader({ ...profile, idPrefix: profile.invoice.idPrefix }),
}));

const anyDelivery = fc.record({
  recipe: anyRecipe({ right: 6 }),
  forgery: fc.oneof(
    { arbitrary: fc.constant(null), weight: 2 },
    { arbitrary: fc.constantFrom(...FORGERIES), weight: 1 },
  ),
  anything: fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f]{64}$/), fc.base64String()),
});

function delivered({ profile: { signature }, fillings, secret }: (typeof CASES)[number], any: AnyDelivery) {
  const { recipe, forgery, anything } = any;
  const { bytes, headers: around } = made(recipe, fillings);
  const named = [...signature.signed.matchAll(/\{header:([^}]+)\}/g)].map(([, one = '']) => one.toLowerCase());
  const headers = { ...Object.fromEntries(named.map((one) => [one, 'x'])), ...around };
  const key = forgery === 'another secret' ? secretOf(signature, Buffer.alloc(32, 7)) : secret;
  const at = forgery === 'long ago' ? NOW - 1_000 * (signature.toleranceSeconds + 2) : NOW;
  const proof = signed(signature, { bytes, secret: key, at, headers });
  const lines = Object.entries(headers).flat();
  const raw = forgery === 'another body' ? Buffer.concat([bytes, Buffer.from(' ')]) : bytes;
  if (forgery === 'no signature') return { raw, headers, head: { rawHeaders: lines, now: NOW } };
  const [name = '', , ...others] = proof.lines;
  if (forgery === 'anything')
    return { raw, headers, head: { rawHeaders: [...lines, name, anything, ...others], now: NOW } };
  return { raw, headers, head: { rawHeaders: [...lines, ...proof.lines], now: NOW } };
}

type AnyDelivery = typeof anyDelivery extends fc.Arbitrary<infer T> ? T : never;

it('1,000 deliveries of any service count only with a right signature, and end an invoice only by the words of the profile', async () => {
  const tally = new Tally();
  await fc.assert(
    fc.asyncProperty(anyDelivery, async (any) => {
      for (const one of CASES) {
        const { raw, headers, head } = delivered(one, any);
        const why = one.check({ ...head, bodies: [raw] }, [one.secret]);
        expect(why !== null, `${one.name}: ${why}`).toBe(isForged(one.profile.signature, any.forgery));
        if (why !== null) continue;
        const rows = await one.read({ raw, rawHeaders: head.rawHeaders, receivedAt: head.now });
        const items = await itemsOf(raw, headers, one.profile);
        expect(rows.length, one.name).toBe(items.length);
        for (const [at, { event }] of rows.entries()) {
          tally.count(event?.verdict ?? 'nothing');
          if (event !== null) expect(await isProved(event, items[at], one.profile), one.name).toBe(true);
        }
      }
    }),
    { numRuns: 1_000 },
  );
  for (const kind of ['issued', 'failed', 'nothing']) expect(tally.times(kind), kind).toBeGreaterThan(10);
});

/** What the events of a delivery are read from; null: nothing is. */
async function itemsOf(
  raw: Uint8Array,
  headers: Came['headers'],
  { event: { payload, items } }: ServiceProfile,
): Promise<readonly (Came | null)[]> {
  let came: Came = { body: parsed(raw), headers };
  if (payload !== null) {
    const found = await standsAt(came, payload.at);
    const text = typeof found === 'string' ? found : '';
    came = { headers, body: parsed(payload.encoding === 'base64' ? Buffer.from(text, 'base64') : Buffer.from(text)) };
  }
  if (items === null) return [came];
  const list = await standsAt(came, items);
  if (!Array.isArray(list) || list.length === 0 || list.length > 1_000) return [null];
  return list.map((body: unknown) => ({ headers, body }));
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return exactly(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}

async function isProved(
  { verdict, serviceId }: NonNullable<RecordDelivery['event']>,
  came: Came | null | undefined,
  { event, invoice }: ServiceProfile,
): Promise<boolean> {
  if (came === null || came === undefined) return false;
  if (serviceId !== null && !holdsId(await standsAt(came, event.invoiceId), serviceId, invoice.idPrefix)) return false;
  if (verdict === null) return true;
  return serviceId !== null && isWordOf(await standsAt(came, event.type), event[verdict]);
}
