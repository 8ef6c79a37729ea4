import type { ServiceProfile } from '../profile/profile.ts';
import type { ExchangeResult } from '../exchange-result.ts';
import { isNothing, readPlace, shownPlace } from '../profile/place.ts';
import type { MerchantListAnswer } from '../../domain/records/service-answers.ts';
import { readEnd, signOfMore, type EndSaid } from './list-end.ts';
import { ListProblem, pageReader, type ListedMerchant, type MerchantPage } from './merchant-page.ts';
import { findNextLink, resolveNextLink } from './next-link.ts';

/** A list with more pages is unreadable; at 100 merchants a page this is a million merchants. */
const MAX_PAGES = 10_000;
/** In characters. */
const LONGEST_CURSOR = 4_096;

/** Fetches a page by its path with query, below the base address. */
type FetchPage = (pathAndQuery: string) => Promise<ExchangeResult>;

/**
 * Reads the whole list, only below the address of the service, which has no trailing slash. Lote would create a missed
 * merchant a second time, so any doubt makes the whole list unreadable. If two records have one NIF, the first listed
 * counts, always.
 */
export async function readMerchantList(
  fetchPage: FetchPage,
  { profile, baseUrl }: { readonly profile: ServiceProfile; readonly baseUrl: string },
): Promise<MerchantListAnswer> {
  const readPage = pageReader(profile);
  try {
    const list = new ListReading(profile, baseUrl);
    // Each page says where the next page is.
    // oxlint-disable-next-line no-await-in-loop
    while (list.path !== null) list.take(await readPage(await fetchPage(list.path)));
    return { kind: 'list', merchants: list.merchants() };
  } catch (error) {
    if (!(error instanceof ListProblem)) throw error;
    const { code, message } = error;
    return { kind: 'unreadable', reason: { code, message: `Reading the list of merchants: ${message}` } };
  }
}

/** One reading of the list. */
class ListReading {
  readonly #profile: ServiceProfile;
  readonly #baseUrl: string;
  readonly #idOf = new Map<string, string>();
  readonly #ids = new Set<string>();
  readonly #paths = new Set<string>();
  #total = 0;
  #items = 0;
  #pages = 0;
  /** The number of the next page, if pages are asked for by number. */
  #number = 1;
  /** The path of the next page; null after the last page. */
  path: string | null;

  constructor(profile: ServiceProfile, baseUrl: string) {
    this.#profile = profile;
    this.#baseUrl = baseUrl;
    // A service answers the list without a number with its first page, whatever its number.
    this.path = this.#pathWith([]);
    this.#paths.add(this.path);
  }

  /** Takes a page and decides whether another one follows. @throws ListProblem if Lote cannot tell */
  take(page: MerchantPage): void {
    this.#add(page);
    const { merchants } = this.#profile;
    const read = { items: this.#items, pages: this.#pages, itemsOfPage: page.merchants.length };
    const said = readEnd(page.document, read, merchants);
    if (this.#isCounted) this.#requireSteady(said);
    const next = this.#next(page, said);
    if (next !== null) {
      if (this.#pages >= MAX_PAGES) throw new ListProblem(`it has more than ${MAX_PAGES} pages`);
      if (this.#paths.has(next)) throw new ListProblem(`page ${this.#pages} repeats an earlier page's ${this.#by}`);
      this.#paths.add(next);
    } else this.#requireEnd(page, said);
    this.path = next;
  }

  /** Returns the merchants of all pages. */
  merchants(): readonly ListedMerchant[] {
    const listed = Array.from(this.#idOf, ([nif, merchantId]) => ({ nif, merchantId }));
    // Lote's tax numbers have only digits: Lote would find no merchant in such a list and create each one again.
    if (listed.length > 0 && !listed.some(({ nif }) => /^\d+$/.test(nif)))
      throw new ListProblem(
        `no tax number of digits at ${shownPlace(this.#profile.merchants.nif)} (merchants.nif) of any merchant`,
      );
    return listed;
  }

  /** True if pages are asked for by a number. */
  get #isCounted(): boolean {
    return this.#profile.merchants.paging === 'page' || this.#profile.merchants.paging === 'offset';
  }

  /** The settings that lead to the next page. */
  get #by(): string {
    return LED_BY[this.#profile.merchants.paging];
  }

  /**
   * Pages that are asked for by a number do not refer to each other. If a merchant is on two pages, the service ignores
   * the number or the order has changed, so another merchant may be missing.
   */
  #add({ merchants }: MerchantPage): void {
    const again = merchants.filter(({ merchantId }) => this.#ids.has(merchantId)).length;
    const isAllAgain = again === merchants.length;
    // The list without a number was the first page, and this service calls it page 1 and not page 0.
    const isNumberOne = this.#profile.merchants.paging === 'page' && this.#number === 2;
    if (isNumberOne && this.#pages === 1 && isAllAgain && again === this.#items) return;
    this.#pages += 1;
    if (again > 0 && (isAllAgain || this.#isCounted))
      throw new ListProblem(
        `${again} of the ${merchants.length} merchants of page ${this.#pages} stood on an earlier page: the service does not page by the ${this.#by}, or the list changed while it was read`,
      );
    this.#items += merchants.length;
    for (const { nif, merchantId } of merchants) {
      this.#ids.add(merchantId);
      if (!this.#idOf.has(nif)) this.#idOf.set(nif, merchantId);
    }
  }

  /** A merchant may have moved to a page that was read before. */
  #requireSteady({ total }: EndSaid): void {
    if (total !== null && total < this.#total)
      throw new ListProblem(`merchants.total went from ${this.#total} to ${total} while the list was read`);
    this.#total = total ?? this.#total;
  }

  /** Returns the path of the page after this one, by `merchants.paging`; null if this is the last. @throws ListProblem */
  #next({ document, merchants: listed }: MerchantPage, said: EndSaid): string | null {
    const { merchants } = this.#profile;
    if (said.isLast || (this.#isCounted && (said.end !== null || listed.length === 0))) return null;
    switch (merchants.paging) {
      case 'page':
        this.#number += 1;
        return this.#pathWith([[merchants.pageParameter, String(this.#number - 1)]]);
      case 'offset':
        return this.#pathWith([[merchants.offsetParameter, String(this.#items)]]);
      case 'cursor': {
        const found = readPlace(document, merchants.nextCursor);
        if (isNothing(found)) return null;
        const isWhole = typeof found === 'number' && Number.isSafeInteger(found);
        const cursor = typeof found === 'string' || isWhole ? String(found) : null;
        if (cursor !== null && cursor.length <= LONGEST_CURSOR)
          return this.#pathWith([[merchants.cursorParameter, cursor]]);
        throw new ListProblem(`no usable cursor at ${shownPlace(merchants.nextCursor)} (merchants.nextCursor)`);
      }
      case 'link': {
        const address = findNextLink(document, merchants.nextLink);
        if (address === null) return null;
        const next = resolveNextLink(address, { baseUrl: this.#baseUrl, path: this.path ?? '' });
        // Only a missing page size is appended, without which the link could pass merchants over.
        const [, query = ''] = next.split(/\?(.*)/s);
        const missing = this.#size.filter(([name]) => !new URLSearchParams(query).has(name));
        return missing.length === 0
          ? next
          : `${next}${query === '' ? '?' : '&'}${queryOf(new URLSearchParams(missing))}`;
      }
    }
  }

  /** Returns the query parameter that asks for a page size. */
  get #size(): Parameters {
    const { sizeParameter, pageSize } = this.#profile.merchants;
    return sizeParameter === null || pageSize === null ? [] : [[sizeParameter, String(pageSize)]];
  }

  /** Returns the path of the list with the page size and these parameters. They replace parameters of the same name. */
  #pathWith(more: Parameters): string {
    const { path } = this.#profile.requests.listMerchants;
    const parameters = [...this.#size, ...more];
    if (parameters.length === 0) return path;
    const [before = '', query] = path.split(/\?(.*)/s);
    const search = new URLSearchParams(query);
    for (const [name, value] of parameters) search.set(name, value);
    return `${before}?${queryOf(search)}`;
  }

  /** @throws ListProblem if the last page says that there is more */
  #requireEnd({ document, merchants }: MerchantPage, said: EndSaid): void {
    const { paging } = this.#profile.merchants;
    if (said.more !== null)
      throw new ListProblem(
        `${said.more}, but ${said.end ?? (merchants.length === 0 ? `page ${this.#pages} is empty` : `page ${this.#pages} has no ${this.#by}`)}`,
      );
    const last = { document, items: this.#items, pages: this.#pages, itemsOfPage: merchants.length };
    const sign = signOfMore(last, said.end !== null, this.#profile.merchants);
    if (sign !== null)
      throw new ListProblem(
        `it must be whole, and it may go on where the service profile sees its end: ${sign}. No merchant was created. Say in the profile how the list goes on ` +
          `(merchants.paging ${JSON.stringify(paging)}: ${this.#by}), or name the key in merchants.notPaging if it means something else`,
      );
  }
}

/** What leads to the next page, with its settings, by kind of paging. */
const LED_BY = {
  cursor: 'cursor (merchants.nextCursor, merchants.cursorParameter)',
  link: 'link (merchants.nextLink)',
  page: 'page number (merchants.pageParameter, merchants.total, merchants.more)',
  offset: 'offset (merchants.offsetParameter, merchants.total, merchants.more)',
} as const;

type Parameters = [name: string, value: string][];

/** Writes spaces as `%20`, because `+` means a space only in forms. Every literal `+` is encoded already. */
function queryOf(search: URLSearchParams): string {
  return search.toString().replaceAll('+', '%20');
}
