import type { EndSaid, ListRead } from './list-end.ts';
import type { MerchantPage } from './merchant-page.ts';

/** Where a list goes on behind a page. */
export type Step =
  | {
      readonly kind: 'next';
      /** Below the base address, with its query. */
      readonly path: string;
      /** The profile says that the page was the last; this one is asked for because nothing else shows it. */
      readonly confirms?: true;
    }
  | {
      readonly kind: 'last';
      /** The page itself says so, however long it is. */
      readonly proved: boolean;
      /** Places from which that was read. */
      readonly places: readonly string[];
    }
  /** Nobody knows, and why. */
  | { readonly kind: 'unknown'; readonly why: string };

/** A page with what was read up to it. */
export interface PageRead {
  readonly page: MerchantPage;
  readonly read: ListRead;
  /** What the page says at `total`, `pages` and `more` of the profile. */
  readonly said: EndSaid;
  /** Where the page came from. */
  readonly path: string;
}

/** How one list is paged, while it is read. */
export interface Paging {
  readonly firstPath: string;
  /** Pages have numbers, and this must lead to the first of them too; null: the first page needs no proof. */
  readonly unnumberedPath: string | null;
  after(read: PageRead): Step;
}
