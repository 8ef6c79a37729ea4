import type { ServiceProfile } from '../../service-profile/profile.ts';
import { countedPaging } from './counted-paging.ts';
import { cursorPaging, linkPaging } from './linked-paging.ts';
import type { Paging } from './paging.ts';

/** Paging of one reading of the list, by `merchants.paging`. */
export function startPaging({ merchants, requests }: ServiceProfile, baseUrl: string): Paging {
  const path = requests.listMerchants.path;
  switch (merchants.paging) {
    case 'cursor':
      return cursorPaging(merchants, path);
    case 'link':
      return linkPaging(merchants, { path, baseUrl });
    default:
      return countedPaging(merchants, path);
  }
}
