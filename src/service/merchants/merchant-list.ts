import { z } from 'zod';
import type { ServiceProfile } from '../profile/profile.ts';
import type { ExchangeResult } from '../exchange-result.ts';
import { isNothing, readPlace, shownPlace, type Document } from '../profile/place.ts';
import type { MerchantListAnswer } from '../../domain/records/service-answers.ts';
import { readEnd, signOfMore, type EndSaid } from './list-end.ts';
import { ListProblem, pageReader, type ListedMerchant, type MerchantPage } from './merchant-page.ts';
import { findNextLink, resolveNextLink } from './next-link.ts';

/** A list with more pages is unreadable; at 100 merchants a page this is a million merchants. */
const MAX_PAGES = 10_000;
/** The statuses with which services refuse a page after the last one. */
const NO_SUCH_PAGE = new Set([400, 404, 416, 422]);

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
    /* oxlint-disable no-await-in-loop */
    for (let path: string | null = list.path; path !== null; path = list.path) {
      const end = await fetchPage(path);
      const page = await readPage(end).catch((error: unknown) => {
        throw list.pages > 0 && isNoSuchPage(end) ? withHint(error, profile) : error;
      });
      list.take(page);
    }
    /* oxlint-enable no-await-in-loop */
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
  #idsBefore = '';
  #total = 0;
  #items = 0;
  /** The number of the next page, if pages are asked for by number. */
  #number = 1;
  pages = 0;
  /** The path of the next page; null after the last page. */
  path: string | null;

  constructor(profile: ServiceProfile, baseUrl: string) {
    this.#profile = profile;
    this.#baseUrl = baseUrl;
    this.path = firstPath(profile);
    this.#paths.add(this.path);
  }

  /** Takes a page and decides whether another one follows. @throws ListProblem if Lote cannot tell */
  take(page: MerchantPage): void {
    // The list without a number is the first page, and this service calls it page 1 and not page 0.
    const isPaged = this.#profile.merchants.paging === 'page';
    const isFirstAgain = isPaged && this.pages === 1 && this.#number === 2 && page.ids === this.#idsBefore;
    if (!isFirstAgain) this.#add(page);
    const read = { items: this.#items, pages: this.pages, itemsOfPage: page.merchants.length };
    const said = readEnd(page.document, read, this.#profile.merchants);
    if (this.#isCounted) this.#requireSteady(said);
    const next = this.#next(page, said);
    if (next !== null) {
      if (this.pages >= MAX_PAGES) throw new ListProblem(`it has more than ${MAX_PAGES} pages`);
      if (this.#paths.has(next)) throw new ListProblem(`page ${this.pages} repeats an earlier page's ${this.#by}`);
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
  #add(page: MerchantPage): void {
    this.pages += 1;
    const isSame = page.ids !== '' && page.ids === this.#idsBefore;
    const again = page.merchants.filter(({ merchantId }) => this.#ids.has(merchantId)).length;
    if (isSame || (this.#isCounted && again > 0))
      throw new ListProblem(
        `${again} of the ${page.merchants.length} merchants of page ${this.pages} stood on an earlier page: the service does not page by the ${this.#by}, or the list changed while it was read`,
      );
    this.#idsBefore = page.ids;
    this.#items += page.merchants.length;
    for (const { nif, merchantId } of page.merchants) {
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

  #next(page: MerchantPage, said: EndSaid): string | null {
    if (said.isLast || (this.#isCounted && (said.end !== null || page.merchants.length === 0))) return null;
    const at = { number: this.#number, items: this.#items, path: this.path ?? '', baseUrl: this.#baseUrl };
    this.#number += 1;
    return nextPath(page.document, at, this.#profile);
  }

  /** @throws ListProblem if the last page says that there is more */
  #requireEnd({ document, merchants }: MerchantPage, said: EndSaid): void {
    const { paging } = this.#profile.merchants;
    if (said.more !== null)
      throw new ListProblem(
        `${said.more}, but ${said.end ?? (merchants.length === 0 ? `page ${this.pages} is empty` : `page ${this.pages} has no ${this.#by}`)}`,
      );
    const last = { document, items: this.#items, pages: this.pages, itemsOfPage: merchants.length };
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

function isNoSuchPage(end: ExchangeResult): boolean {
  return end.kind === 'answer' && NO_SUCH_PAGE.has(end.status);
}

/** Adds a hint: some services refuse a page after the last one, but a refusal alone does not prove the end. */
function withHint(problem: unknown, { merchants: { paging } }: ServiceProfile): unknown {
  if (!(problem instanceof ListProblem) || paging === 'cursor' || paging === 'link') return problem;
  const hint =
    'If the page before was the last one, say in the service profile what shows it: merchants.total or merchants.more';
  return new ListProblem(`${problem.message}. ${hint}`, problem.code);
}

/** The number of the next page, the merchants that were read, and the path of the present page. */
interface ListPosition {
  readonly number: number;
  readonly items: number;
  readonly path: string;
  readonly baseUrl: string;
}

type Parameters = [name: string, value: string][];

/** Returns the path of the list with the page size. A service answers it with its first page, whatever its number. */
function firstPath({ merchants, requests }: ServiceProfile): string {
  return withParameters(requests.listMerchants.path, sizeParameters(merchants));
}

/** `.max()` of zod would also read the `length` of an object, and throw if that cannot be compared. */
const Cursor = z
  .union([z.string(), z.number().int()])
  .transform(String)
  .refine((cursor) => cursor.length <= 4_096);

/** Returns the path of the page after this one, by `merchants.paging`; null if this page names none. @throws ListProblem */
function nextPath(document: Document, at: ListPosition, { merchants, requests }: ServiceProfile): string | null {
  const size = sizeParameters(merchants);
  const pathWith = (name: string, value: string | number): string =>
    withParameters(requests.listMerchants.path, [...size, [name, String(value)]]);
  switch (merchants.paging) {
    case 'page':
      return pathWith(merchants.pageParameter, at.number);
    case 'offset':
      return pathWith(merchants.offsetParameter, at.items);
    case 'cursor': {
      const found = readPlace(document, merchants.nextCursor);
      if (isNothing(found)) return null;
      const cursor = Cursor.safeParse(found);
      if (cursor.success) return pathWith(merchants.cursorParameter, cursor.data);
      throw new ListProblem(`no usable cursor at ${shownPlace(merchants.nextCursor)} (merchants.nextCursor)`);
    }
    case 'link': {
      const address = findNextLink(document, merchants.nextLink);
      if (address === null) return null;
      const next = resolveNextLink(address, at);
      // Only missing parameters are appended: Lote does not rewrite the service's own query.
      const [, query = ''] = next.split(/\?(.*)/s);
      const missing = size.filter(([name]) => !new URLSearchParams(query).has(name));
      if (missing.length === 0) return next;
      return `${next}${next.includes('?') ? '&' : '?'}${queryOf(new URLSearchParams(missing))}`;
    }
  }
}

/** Sets query parameters in a path. A parameter replaces an existing one of the same name. */
function withParameters(path: string, parameters: Parameters): string {
  if (parameters.length === 0) return path;
  const [before = '', query] = path.split(/\?(.*)/s);
  const search = new URLSearchParams(query);
  for (const [name] of parameters) search.delete(name);
  for (const [name, value] of parameters) search.append(name, value);
  return `${before}?${queryOf(search)}`;
}

/** Writes spaces as `%20`, because `+` means a space only in forms. Every literal `+` is encoded already. */
function queryOf(search: URLSearchParams): string {
  return search.toString().replaceAll('+', '%20');
}

/** Returns the query parameter that asks for a page size. */
function sizeParameters({ sizeParameter, pageSize }: ServiceProfile['merchants']): Parameters {
  return sizeParameter === null || pageSize === null ? [] : [[sizeParameter, String(pageSize)]];
}
