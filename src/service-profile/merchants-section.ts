import { z } from 'zod';
import { idPrefix } from './invoice-section.ts';
import { optionalPlace, place, words } from './section-types.ts';

const parameter = z.string().min(1).max(100);

/** Where the parts of a merchant stand, and how the list of them goes on. */
export const MerchantsSection = z.strictObject({
  createdId: place.describe('The id in the answer to the creation'),
  idPrefix: idPrefix.describe('What every id begins with; "": anything'),
  items: place.describe(
    'The merchants in a page of the list; an expression writes [ ] around them, so that one alone is a list too',
  ),
  id: place.describe('The id, from one of the items'),
  nif: place.describe('The tax number, from one of the items'),
  paging: z
    .enum(['cursor', 'link', 'page', 'offset'])
    .describe('How the next page is asked for; a list without paging is one whose nextCursor finds nothing'),
  nextCursor: place.describe('cursor: what to send for the next page; nothing there: the last page'),
  cursorParameter: parameter,
  nextLink: place.describe(
    'link: address of the next page, absolute or relative; of a Link header the one with rel="next"',
  ),
  pageParameter: parameter.describe('page: the parameter of the page number'),
  firstPage: z
    .number()
    .int()
    .min(0)
    .max(1)
    .describe('page: the number of the first page; without total, the page without a number is compared with it'),
  offsetParameter: parameter.describe('offset: the parameter of the number of merchants to skip'),
  sizeParameter: parameter.nullable().describe('The parameter of the page size; null: none is sent'),
  pageSize: z.number().int().min(1).max(10_000).nullable().describe('Merchants a page; null: as the service likes'),
  total: optionalPlace.describe('How many merchants there are in all'),
  pages: optionalPlace.describe('How many pages there are in all'),
  more: optionalPlace.describe('The flag that says whether there are more'),
  endsAtShortPage: z
    .boolean()
    .describe(
      'page, offset: a page with fewer than pageSize merchants is the last (if the first is, one more is asked for as a proof); false: an empty one is, or what total, pages and more say',
    ),
  notPaging: words.describe("Keys of a list's answer that look like paging and are not"),
});
