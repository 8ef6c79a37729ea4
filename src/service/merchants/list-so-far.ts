import type { MerchantListAnswer } from '../../domain/ports/invoicing-service.ts';
import { readPlace, shownPlace, type Place } from '../../service-profile/place.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { ListRead } from './list-end.ts';
import { unreadable } from './list-failure.ts';
import { signOfMore } from './list-signs.ts';
import type { MerchantPage } from './merchant-page.ts';

/** What says where the list goes on, by kind of paging. */
const GOES_ON_BY = {
  cursor: 'merchants.nextCursor, merchants.cursorParameter',
  link: 'merchants.nextLink',
  page: 'merchants.total, merchants.pages, merchants.more, merchants.pageSize',
  offset: 'merchants.total, merchants.pages, merchants.more, merchants.pageSize',
} as const;

const DIGITS = /^\d+$/;

/** The last page, and how it is known. */
export interface LastPage {
  readonly page: MerchantPage;
  readonly read: ListRead;
  readonly proved: boolean;
  readonly places: readonly string[];
}

/** The merchants of the pages read. */
export class ListSoFar {
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
  ended({ page, read, proved, places }: LastPage): MerchantListAnswer {
    const { merchants } = this.#profile;
    const sign = signOfMore(page.document, read, {
      items: readPlace(page.document, merchants.items),
      next: nextPlace(merchants),
      notPaging: merchants.notPaging,
      pageSize: merchants.pageSize,
      places,
      proved,
    });
    if (sign !== null) return unreadable(mayGoOn(sign, this.#profile));
    // Lote knows tax numbers of digits alone: none of its merchants would be found in such a list, and each created again.
    if (this.#byNif.size > 0 && ![...this.#byNif.keys()].some((nif) => DIGITS.test(nif)))
      return unreadable(`no tax number of digits at ${shownPlace(merchants.nif)} (merchants.nif) of any merchant`);
    return { kind: 'list', merchants: Array.from(this.#byNif, ([nif, merchantId]) => ({ nif, merchantId })) };
  }
}

/** The ids of a page in their order. */
export function idsOf({ merchants }: MerchantPage): string {
  return merchants.map(({ merchantId }) => merchantId).join(' ');
}

function mayGoOn(sign: string, { merchants: { paging } }: ServiceProfile): string {
  return (
    `it must be whole, and it may go on where the service profile sees its end: ${sign}. No merchant was created. Say in the profile how the list goes on ` +
    `(merchants.paging ${JSON.stringify(paging)}: ${GOES_ON_BY[paging]}), or name the key in merchants.notPaging if it means something else`
  );
}

function nextPlace({ paging, nextCursor, nextLink }: ServiceProfile['merchants']): Place | null {
  if (paging === 'cursor') return nextCursor;
  return paging === 'link' ? nextLink : null;
}
