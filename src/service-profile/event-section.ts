import { z } from 'zod';
import { optionalPlace, place, words } from './section-types.ts';

/** Where the parts of a delivery stand. */
export const EventSection = z.strictObject({
  payload: z
    .strictObject({ at: place, encoding: z.enum(['base64', 'text']) })
    .nullable()
    .describe('The event is JSON inside the delivery, as base64 or as text; null: the delivery is the event'),
  items: optionalPlace.describe('The list of events of one delivery, at most 1,000; null: a delivery is one event'),
  type: place.describe('The word that says what happened'),
  issued: words.min(1).describe('Types that say that the invoice is issued'),
  failed: words.min(1).describe('Types that say that the invoice failed'),
  invoiceId: place.describe(
    'The id; text, a whole number, or an address of which the last step counts; begins with invoice.idPrefix',
  ),
  eventId: place,
  reasonCode: place,
  reasonMessage: place,
});
