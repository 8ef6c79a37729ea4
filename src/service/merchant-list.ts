import { z } from 'zod';
import type { MerchantListAnswer } from '../domain/ports/invoicing-service.ts';
import { MerchantId } from './classify.ts';
import type { ExchangeResult } from './exchange-result.ts';
import { readPointer } from '../domain/json-pointer.ts';
import { signOfMore, type ListRead } from './list-signs.ts';
import type { ServiceProfile } from './profile.ts';
import { statusReason } from './reason-text.ts';

/** A list without an end is unreadable; at 100 a page this is a million merchants. */
const MAX_PAGES = 10_000;

const Cursor = z.union([z.string().max(4_096), z.number().int()]).transform(String);
const Nif = z
  .union([z.string(), z.number().int().nonnegative()])
  .transform((nif) => String(nif).replaceAll(/\s/g, ''))
  .pipe(z.string().min(1).max(64));

interface Page {
  readonly merchants: readonly { readonly nif: string; readonly merchantId: string }[];
  readonly cursor: string | null;
}

/**
 * Reads the whole list. All or nothing: a merchant missed here would be created a second time, so any doubt makes the
 * list unreadable. Of two records with one NIF the first listed is used, always.
 */
export async function readMerchantList(
  fetchPage: (cursor: string | null) => Promise<ExchangeResult>,
  profile: ServiceProfile,
): Promise<MerchantListAnswer> {
  const byNif = new Map<string, string>();
  const cursors = new Set<string>();
  let cursor: string | null = null;
  let items = 0;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    // Each page's cursor stands in the page before it.
    // oxlint-disable-next-line no-await-in-loop
    const end = await fetchPage(cursor);
    const read = readPage(end, profile);
    if ('kind' in read) return read;
    items += read.merchants.length;
    for (const { nif, merchantId } of read.merchants) if (!byNif.has(nif)) byNif.set(nif, merchantId);
    if (read.cursor === null) {
      const sign = signOf(end, { items, pages: page, itemsOfPage: read.merchants.length }, profile);
      if (sign !== null) return unreadable(mayGoOn(sign));
      return { kind: 'list', merchants: Array.from(byNif, ([nif, merchantId]) => ({ nif, merchantId })) };
    }
    if (cursors.has(read.cursor)) return unreadable(`page ${page} repeats an earlier page's cursor`);
    cursors.add(read.cursor);
    cursor = read.cursor;
  }
  return unreadable(`it has more than ${MAX_PAGES} pages`);
}

function readPage(
  end: ExchangeResult,
  profile: ServiceProfile,
): Page | Extract<MerchantListAnswer, { kind: 'unreadable' }> {
  if (end.kind !== 'answer') return failed('service-unreachable', 'code' in end ? end.code : end.kind);
  const json = end.body.kind === 'json' ? end.body.value : undefined;
  if (end.status < 200 || end.status > 299) return failedStatus(end.status, json, profile);
  if (end.body.kind !== 'json') {
    const code = end.body.why === 'cut-short' ? 'service-unreachable' : 'service-list-unreadable';
    return failed(code, `its answer is ${end.body.why}`);
  }
  const items = z.array(z.unknown()).safeParse(readPointer(json, profile.merchants.items));
  if (!items.success) return unreadable(`no list at ${shown(profile.merchants.items)}`);
  const merchants: { nif: string; merchantId: string }[] = [];
  for (const [index, item] of items.data.entries()) {
    const merchantId = MerchantId.safeParse(readPointer(item, profile.merchants.id));
    const nif = Nif.safeParse(readPointer(item, profile.merchants.nif));
    if (!merchantId.success)
      return unreadable(`item ${index + 1} of a page has no mrc_ id at ${shown(profile.merchants.id)}`);
    if (!nif.success)
      return unreadable(`item ${index + 1} of a page has no tax number at ${shown(profile.merchants.nif)}`);
    merchants.push({ nif: nif.data, merchantId: merchantId.data });
  }
  const cursor = readCursor(json, profile);
  if (cursor === undefined) return unreadable(`no usable cursor at ${shown(profile.merchants.nextCursor)}`);
  return { merchants, cursor };
}

function signOf(end: ExchangeResult, read: ListRead, { merchants }: ServiceProfile): string | null {
  if (end.kind !== 'answer' || end.body.kind !== 'json') return null;
  return signOfMore({ body: end.body.value, headers: end.headers ?? {} }, read, merchants);
}

function mayGoOn(sign: string): string {
  return (
    `it must be whole, and it may go on where the service profile sees its end: ${sign}. No merchant was created. Say in the profile how the list goes on ` +
    '(merchants.nextCursor, merchants.cursorParameter), or name the key in merchants.notPaging if it means something else'
  );
}

/** null: the last page; undefined: something stands there that cannot be sent back. */
function readCursor(json: unknown, profile: ServiceProfile): string | null | undefined {
  // A list at the top level has no place for a cursor beside it.
  const found = Array.isArray(json) ? null : readPointer(json, profile.merchants.nextCursor);
  if (found === undefined || found === null || found === '') return null;
  return Cursor.safeParse(found).data;
}

function failedStatus(status: number, json: unknown, profile: ServiceProfile) {
  const said = statusReason(status, { code: null, message: readPointer(json, profile.error.message) }).message;
  if (status === 401 || status === 403 || status === 407) return failed('service-unauthorized', said);
  if (status === 408 || status === 425 || status === 429 || status >= 500) return failed('service-unreachable', said);
  return unreadable(said);
}

function unreadable(why: string) {
  return failed('service-list-unreadable', why);
}

function failed(code: 'service-unreachable' | 'service-unauthorized' | 'service-list-unreadable', why: string) {
  return { kind: 'unreadable', reason: { code, message: `Reading the list of merchants: ${why}` } } as const;
}

function shown(pointer: string): string {
  return pointer === '' ? 'the top level' : pointer;
}
