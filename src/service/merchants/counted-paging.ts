import type { ServiceProfile } from '../../service-profile/profile.ts';
import { sizeParameters, withParameters } from './page-path.ts';
import type { PageRead, Paging, Step } from './paging.ts';

/**
 * Pages asked for by number, or by how many merchants were read. Such pages say nothing of each other: a merchant that comes
 * twice shows that the service ignores the parameter or that its order moved, and then another may have been passed over.
 */
export function countedPaging(merchants: ServiceProfile['merchants'], path: string): Paging {
  const size = sizeParameters(merchants);
  const byPage = merchants.paging === 'page';
  const key = byPage ? 'pageParameter' : 'offsetParameter';
  const parameter = merchants[key];
  const seen = new Set<string>();
  let total = 0;
  let confirming = false;

  const pathOf = (place: number): string => withParameters(path, [...size, [parameter, String(place)]]);

  function problemOf({ page, read, said }: PageRead): string | null {
    const again = page.merchants.filter(({ merchantId }) => seen.has(merchantId)).length;
    for (const { merchantId } of page.merchants) seen.add(merchantId);
    if (again > 0)
      return (
        `${again} of the ${read.itemsOfPage} merchants of page ${read.pages} stood on an earlier page: the service does not page by ` +
        `${JSON.stringify(parameter)} (merchants.${key}), or the list changed while it was read`
      );
    if (said.total !== null && said.total < total)
      return `merchants.total went from ${total} to ${said.total} while the list was read`;
    total = said.total ?? total;
    return null;
  }

  return {
    firstPath: pathOf(byPage ? merchants.firstPage : 0),
    unnumberedPath: byPage ? withParameters(path, size) : null,
    after(pageRead): Step {
      const { read, said } = pageRead;
      const problem = problemOf(pageRead);
      if (problem !== null) return { kind: 'unknown', why: problem };
      const next = pathOf(byPage ? merchants.firstPage + read.pages : read.items);
      const [end] = said.end;
      const [more] = said.more;
      if (end !== undefined && more !== undefined) return { kind: 'unknown', why: `${more}, but ${end}` };
      if (end !== undefined) return { kind: 'last', proved: true, places: said.places };
      if (read.itemsOfPage === 0 && more !== undefined)
        return { kind: 'unknown', why: `page ${read.pages} is empty, but ${more}` };
      if (read.itemsOfPage === 0) return { kind: 'last', proved: false, places: said.places };
      if (confirming) return { kind: 'unknown', why: goesOnBehindShortPage(merchants.pageSize) };
      const short = merchants.endsAtShortPage && read.itemsOfPage < (merchants.pageSize ?? 0);
      if (more !== undefined || !short) return { kind: 'next', path: next };
      // A first page may be short because the service gives fewer than it was asked for.
      if (read.pages > 1) return { kind: 'last', proved: false, places: said.places };
      confirming = true;
      return { kind: 'next', path: next, confirms: true };
    },
  };
}

function goesOnBehindShortPage(pageSize: number | null): string {
  return (
    `it goes on behind a first page with fewer than ${pageSize} merchants. Set merchants.pageSize to what the service really gives, ` +
    'or merchants.endsAtShortPage to false'
  );
}
