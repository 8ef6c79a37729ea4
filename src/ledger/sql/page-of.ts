/** (page, ordinal) is fixed by the batch's page size, so the page is computed and never stored. Needs `bi` and `b`. */
export const PAGE_OF = '((bi.ordinal - 1) / b.page_size + 1)';

/** The ordinals of one page, as a range of batch_invoice's primary key. */
export function onPage(page: string): string {
  return `bi.ordinal BETWEEN (${page} - 1) * b.page_size + 1 AND ${page} * b.page_size`;
}
