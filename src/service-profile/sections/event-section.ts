import { z } from 'zod';
import { optionalPlace, place, words } from './section-types.ts';

/** Where the parts of a delivery stand. */
export const EventSection = z
  .strictObject({
    payload: z
      .strictObject({
        at: place.describe('place of that JSON'),
        encoding: z.enum(['base64', 'text']).describe('`base64` or `text`'),
      })
      .nullable()
      .describe('the event is JSON inside the delivery; `null`: the delivery is the event'),
    items: optionalPlace.describe('the list of events of one delivery, at most 1,000; `null`: a delivery is one event'),
    type: place.describe('the word that says what happened'),
    issued: words.min(1).describe('types that say that the invoice is issued'),
    failed: words.min(1).describe('types that say that the invoice failed'),
    invoiceId: place.describe('id of the invoice; of an address the last step counts; begins with `invoice.idPrefix`'),
    eventId: place.describe('id of the event'),
    reasonCode: place.describe('why it failed: the word for programs'),
    reasonMessage: place.describe('why it failed: the sentence for people'),
  })
  .describe('where the parts of a delivery stand');
