import type { ServiceProfile } from '../profile/profile.ts';
import type { ExchangeResult } from '../exchange-result.ts';
import { readEnd, type LastPage, type ListRead, signOfMore } from './list-end.ts';
import { unreadable, type Unreadable, pageReader, type MerchantPage, type PageReader } from './merchant-page.ts';
import { type Step, startPaging } from './start-paging.ts';
import { shownPlace } from '../profile/place.ts';
import type { MerchantListAnswer } from '../../domain/records/service-answers.ts';

/** A list without an end is unreadable; at 100 a page this is a million merchants. */
const MAX_PAGES = 10_000;
/** How services refuse a page behind the last one. */
const NO_SUCH_PAGE = new Set([400, 404, 416, 422]);

/** What a list is read by. */
export interface MerchantListOptions {
  readonly profile: ServiceProfile;
  /** Address of the service, without a trailing slash: no page is asked for elsewhere. */
  readonly baseUrl: string;
}

/** The expressions of a profile are compiled once. */
const readers = new WeakMap<ServiceProfile, PageReader>();

/**
 * Reads the whole list; `fetchPage` gets a path with its query, below the base address. All or nothing: a merchant missed here would be created a second
 * time, so any doubt makes the list unreadable. Of two records with one NIF the first listed is used, always.
 */
export async function readMerchantList(
  fetchPage: (pathAndQuery: string) => Promise<ExchangeResult>,
  { profile, baseUrl }: MerchantListOptions,
): Promise<MerchantListAnswer> {
  const readPage = readerOf(profile);
  const paging = startPaging(profile, baseUrl);
  const list = new ListSoFar(profile);
  let path = paging.firstPath;
  const readUnnumbered = async (unnumbered: string): Promise<MerchantPage | Unreadable | null> => {
    const end = await fetchPage(unnumbered);
    return isNoSuchPage(end) ? null : await readPage(end);
  };
  let confirms: LastPage | null = null;
  for (let count = 1; count <= MAX_PAGES; count += 1) {
    // Each page says where the next one is.
    // oxlint-disable-next-line no-await-in-loop
    const end = await fetchPage(path);
    if (confirms !== null && isNoSuchPage(end)) return list.ended(confirms);
    // oxlint-disable-next-line no-await-in-loop
    const page = await readPage(end);
    if ('kind' in page) return isNoSuchPage(end) && count > 1 ? behindTheLast(page, profile) : page;
    const read = list.add(page);
    const said = readEnd(page.document, read, profile.merchants);
    if (count === 1 && paging.unnumberedPath !== null && !('total' in said && said.total !== null)) {
      // oxlint-disable-next-line no-await-in-loop
      const problem = problemOfFirstPage(page, await readUnnumbered(paging.unnumberedPath), profile);
      if (problem !== null) return problem;
    }
    const step: Step = 'why' in said ? { kind: 'unknown', why: said.why } : paging.after({ page, read, said, path });
    if (step.kind === 'unknown') return unreadable(step.why);
    if (list.repeatsItself) return unreadable(repeated(read.pages, profile));
    if (step.kind === 'last') return list.ended({ document: page.document, read, proved: step.proved });
    confirms = step.confirms === true ? { document: page.document, read, proved: false } : null;
    path = step.path;
  }
  return unreadable(`it has more than ${MAX_PAGES} pages`);
}

/**
 * A service that counts its pages from 0 answers to 1 with its second page, and some answer to 0 with an empty one. Without a number they give the first, or
 * refuse, which proves nothing.
 */
function problemOfFirstPage(
  first: MerchantPage,
  unnumbered: MerchantPage | Unreadable | null,
  { merchants: { firstPage } }: ServiceProfile,
): Unreadable | null {
  if (unnumbered === null) return null;
  if ('kind' in unnumbered) return unnumbered;
  if (idsOf(first) === idsOf(unnumbered)) return null;
  return unreadable(
    `page ${firstPage} (merchants.firstPage) holds other merchants than the list without a page number: its first page has another number, or the list changed while it was read`,
  );
}

function readerOf(profile: ServiceProfile): PageReader {
  const reader = readers.get(profile) ?? pageReader(profile);
  readers.set(profile, reader);
  return reader;
}

function isNoSuchPage(end: ExchangeResult): boolean {
  return end.kind === 'answer' && NO_SUCH_PAGE.has(end.status);
}

/** Some services refuse a page behind the last one; a refusal alone proves no end. */
function behindTheLast(refusal: Unreadable, { merchants: { paging } }: ServiceProfile): Unreadable {
  if (paging === 'cursor' || paging === 'link') return refusal;
  const { code, message } = refusal.reason;
  const hint =
    'If the page before was the last one, say in the service profile what shows it: merchants.total, merchants.pages, merchants.more, or merchants.endsAtShortPage';
  return { kind: 'unreadable', reason: { code, message: `${message}. ${hint}` } };
}

function repeated(page: number, { merchants: { paging, cursorParameter } }: ServiceProfile): string {
  const by =
    paging === 'cursor'
      ? `${JSON.stringify(cursorParameter)} (merchants.cursorParameter)`
      : 'the link (merchants.nextLink)';
  return `page ${page} holds the same merchants as the page before: the service does not page by ${by}`;
}

/** What says where the list goes on, by kind of paging. */
const GOES_ON_BY = {
  cursor: 'merchants.nextCursor, merchants.cursorParameter',
  link: 'merchants.nextLink',
  page: 'merchants.total, merchants.pages, merchants.more, merchants.pageSize',
  offset: 'merchants.total, merchants.pages, merchants.more, merchants.pageSize',
} as const;

const DIGITS = /^\d+$/;

/** The merchants of the pages read. */
class ListSoFar {
  readonly #byNif = new Map<string, string>();
  readonly #profile: ServiceProfile;
  #items = 0;
  #pages = 0;
  #idsOfPage = '';
  /** The page added last holds the merchants of the page before it. */
  repeatsItself = false;

  constructor(profile: ServiceProfile) {
    this.#profile = profile;
  }

  add(page: MerchantPage): ListRead {
    const { merchants } = page;
    for (const { nif, merchantId } of merchants) if (!this.#byNif.has(nif)) this.#byNif.set(nif, merchantId);
    const ids = idsOf(page);
    this.repeatsItself = ids !== '' && ids === this.#idsOfPage;
    this.#idsOfPage = ids;
    this.#items += merchants.length;
    this.#pages += 1;
    return { items: this.#items, pages: this.#pages, itemsOfPage: merchants.length };
  }

  /** The list, unless something on its last page says that it goes on. */
  ended(last: LastPage): MerchantListAnswer {
    const { merchants } = this.#profile;
    const sign = signOfMore(last, merchants);
    if (sign !== null) return unreadable(mayGoOn(sign, this.#profile));
    // Lote knows tax numbers of digits alone: none of its merchants would be found in such a list, and each created again.
    if (this.#byNif.size > 0 && ![...this.#byNif.keys()].some((nif) => DIGITS.test(nif)))
      return unreadable(`no tax number of digits at ${shownPlace(merchants.nif)} (merchants.nif) of any merchant`);
    return { kind: 'list', merchants: Array.from(this.#byNif, ([nif, merchantId]) => ({ nif, merchantId })) };
  }
}

/** The ids of a page in their order. */
function idsOf({ merchants }: MerchantPage): string {
  return merchants.map(({ merchantId }) => merchantId).join(' ');
}

function mayGoOn(sign: string, { merchants: { paging } }: ServiceProfile): string {
  return (
    `it must be whole, and it may go on where the service profile sees its end: ${sign}. No merchant was created. Say in the profile how the list goes on ` +
    `(merchants.paging ${JSON.stringify(paging)}: ${GOES_ON_BY[paging]}), or name the key in merchants.notPaging if it means something else`
  );
}
