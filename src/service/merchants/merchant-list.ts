import type { ServiceProfile } from '../profile/profile.ts';
import type { ExchangeResult } from '../exchange-result.ts';
import { readEnd, type LastPage, signOfMore } from './list-end.ts';
import { ListProblem, pageReader, type ListedMerchant, type MerchantPage, type PageReader } from './merchant-page.ts';
import { startPaging } from './paging.ts';
import { shownPlace } from '../profile/place.ts';
import type { MerchantListAnswer } from '../../domain/records/service-answers.ts';

/** A list with more pages is unreadable; at 100 merchants a page this is a million merchants. */
const MAX_PAGES = 10_000;
/** The statuses with which services refuse a page after the last one. */
const NO_SUCH_PAGE = new Set([400, 404, 416, 422]);

/** The profile and the address of a list. */
export interface MerchantListOptions {
  readonly profile: ServiceProfile;
  /** Address of the service, without a trailing slash. Lote asks for pages only below this address. */
  readonly baseUrl: string;
}

/** Fetches a page by its path with query, below the base address. */
type FetchPage = (pathAndQuery: string) => Promise<ExchangeResult>;

/** The page reader of each profile, so that its expressions are compiled once. */
const readers = new WeakMap<ServiceProfile, PageReader>();

/**
 * Reads the whole list. Lote would create a missed merchant a second time, so any doubt makes the whole list
 * unreadable. If two records have one NIF, the first listed counts, always.
 */
export async function readMerchantList(
  fetchPage: FetchPage,
  { profile, baseUrl }: MerchantListOptions,
): Promise<MerchantListAnswer> {
  const readPage = readers.get(profile) ?? pageReader(profile);
  readers.set(profile, readPage);
  try {
    return { kind: 'list', merchants: await readPages({ fetchPage, readPage, profile, baseUrl }) };
  } catch (error) {
    if (!(error instanceof ListProblem)) throw error;
    const { code, message } = error;
    return { kind: 'unreadable', reason: { code, message: `Reading the list of merchants: ${message}` } };
  }
}

interface Reading extends MerchantListOptions {
  readonly fetchPage: FetchPage;
  readonly readPage: PageReader;
}

async function readPages(reading: Reading): Promise<readonly ListedMerchant[]> {
  const { fetchPage, readPage, profile, baseUrl } = reading;
  const paging = startPaging(profile, baseUrl);
  const idOf = new Map<string, string>();
  let items = 0;
  let path = paging.firstPath;
  let mayBeLast: LastPage | null = null;
  // Each page says where the next page is.
  /* oxlint-disable no-await-in-loop */
  for (let pages = 1; pages <= MAX_PAGES; pages += 1) {
    const end = await fetchPage(path);
    if (mayBeLast !== null && isNoSuchPage(end)) return whole(idOf, mayBeLast, profile);
    const page = await readPage(end).catch((error: unknown) => {
      throw pages > 1 && isNoSuchPage(end) ? withHint(error, profile) : error;
    });
    for (const { nif, merchantId } of page.merchants) if (!idOf.has(nif)) idOf.set(nif, merchantId);
    items += page.merchants.length;
    const read = { items, pages, itemsOfPage: page.merchants.length };
    const said = readEnd(page.document, read, profile.merchants);
    if (pages === 1 && said.total === null) await requireFirst(page, paging.unnumberedPath, reading);
    const { next, proved = false, confirms = false } = paging.after({ page, read, said, path });
    const last = { document: page.document, read, proved };
    if (next === null) return whole(idOf, last, profile);
    mayBeLast = confirms ? last : null;
    path = next;
  }
  /* oxlint-enable no-await-in-loop */
  throw new ListProblem(`it has more than ${MAX_PAGES} pages`);
}

/**
 * Checks that the numbered page is the first page. A service that counts pages from 0 answers page 1 with its second
 * page, and some services answer page 0 with an empty page. Without a number, a service returns its first page, or
 * refuses, which proves nothing.
 * @throws ListProblem if the page without a number has other merchants.
 */
async function requireFirst(first: MerchantPage, unnumberedPath: string | null, reading: Reading): Promise<void> {
  if (unnumberedPath === null) return;
  const end = await reading.fetchPage(unnumberedPath);
  if (isNoSuchPage(end) || (await reading.readPage(end)).ids === first.ids) return;
  throw new ListProblem(
    `page ${reading.profile.merchants.firstPage} (merchants.firstPage) holds other merchants than the list without a page number: its first page has another number, or the list changed while it was read`,
  );
}

function isNoSuchPage(end: ExchangeResult): boolean {
  return end.kind === 'answer' && NO_SUCH_PAGE.has(end.status);
}

/** Adds a hint: some services refuse a page after the last one, but a refusal alone does not prove the end. */
function withHint(problem: unknown, { merchants: { paging } }: ServiceProfile): unknown {
  if (!(problem instanceof ListProblem) || paging === 'cursor' || paging === 'link') return problem;
  const hint =
    'If the page before was the last one, say in the service profile what shows it: merchants.total, merchants.pages, merchants.more, or merchants.endsAtShortPage';
  return new ListProblem(`${problem.message}. ${hint}`, problem.code);
}

const COUNTED = 'merchants.total, merchants.pages, merchants.more, merchants.pageSize';
/** The settings that say how to find the next page, by kind of paging. */
const GOES_ON_BY = {
  cursor: 'merchants.nextCursor, merchants.cursorParameter',
  link: 'merchants.nextLink',
  page: COUNTED,
  offset: COUNTED,
} as const;

const DIGITS = /^\d+$/;

/** Returns the merchants of all pages. @throws ListProblem if the last page has a sign that the list goes on. */
function whole(
  idOf: ReadonlyMap<string, string>,
  last: LastPage,
  { merchants }: ServiceProfile,
): readonly ListedMerchant[] {
  const sign = signOfMore(last, merchants);
  const { paging } = merchants;
  if (sign !== null)
    throw new ListProblem(
      `it must be whole, and it may go on where the service profile sees its end: ${sign}. No merchant was created. Say in the profile how the list goes on ` +
        `(merchants.paging ${JSON.stringify(paging)}: ${GOES_ON_BY[paging]}), or name the key in merchants.notPaging if it means something else`,
    );
  const listed = Array.from(idOf, ([nif, merchantId]) => ({ nif, merchantId }));
  // Lote's tax numbers have only digits: Lote would find no merchant in such a list and create each one again.
  if (listed.length > 0 && !listed.some(({ nif }) => DIGITS.test(nif)))
    throw new ListProblem(`no tax number of digits at ${shownPlace(merchants.nif)} (merchants.nif) of any merchant`);
  return listed;
}
