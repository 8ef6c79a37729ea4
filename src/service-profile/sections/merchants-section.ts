import { z } from 'zod';
import { idPrefix } from './invoice-section.ts';
import { optionalPlace, place, words } from './section-types.ts';

const parameter = z.string().min(1).max(100);

/** Where the parts of a merchant stand, and how the list of them goes on. */
export const MerchantsSection = z
  .strictObject({
    createdId: place.describe('the id in the answer to the creation'),
    idPrefix: idPrefix.describe('what every id begins with; `""`: anything'),
    items: place.describe(
      'the merchants in a page of the list; an expression writes `[ ]` around them, so that one alone is a list too',
    ),
    id: place.describe('the id, from one of the items'),
    nif: place.describe(
      'the tax number, from one of the items; a list in which none of them is all digits cannot be read',
    ),
    paging: z
      .enum(['cursor', 'link', 'page', 'offset'])
      .describe('how the next page is asked for: `cursor`, `link`, `page` or `offset`'),
    nextCursor: place.describe('`cursor`: what to send for the next page; nothing there: the last page'),
    cursorParameter: parameter.describe('`cursor`: its query parameter'),
    nextLink: place.describe(
      '`link`: address of the next page, absolute or relative; of a `Link` header the one with `rel="next"`',
    ),
    pageParameter: parameter.describe('`page`: query parameter of the page number'),
    firstPage: z
      .number()
      .int()
      .min(0)
      .max(1)
      .describe(
        '`page`: number of the first page, 0 or 1; without a `total`, the list without a page number is asked for too and compared with it',
      ),
    offsetParameter: parameter.describe('`offset`: query parameter of the number of merchants to skip'),
    sizeParameter: parameter.nullable().describe('query parameter of the page size; `null`: none is sent'),
    pageSize: z.number().int().min(1).max(10_000).nullable().describe('merchants a page; `null`: as the service likes'),
    total: optionalPlace.describe('how many merchants there are in all'),
    pages: optionalPlace.describe('how many pages there are in all'),
    more: optionalPlace.describe('the flag that says whether there are more'),
    endsAtShortPage: z
      .boolean()
      .describe(
        '`page`, `offset`: a page with fewer than `pageSize` merchants is the last one; if it is the first, one more is asked for as a proof',
      ),
    notPaging: words.describe("keys of a list's answer that look like paging and are not"),
  })
  .describe('where the parts of a merchant stand, and how the list of them goes on');
