import { z } from 'zod';
import { place, words } from './section-types.ts';

/** Characters that an id of the service may begin with. */
export const idPrefix = z
  .string()
  .regex(/^[A-Za-z0-9_-]{0,64}$/, { error: 'must be at most 64 letters, digits, "_" and "-"' });

/** Where the parts of an invoice stand in the answers to POST and GET. */
export const InvoiceSection = z
  .strictObject({
    id: place.describe('the id; of an address the last step counts, so `header:Location` is possible'),
    idPrefix: idPrefix.describe('what every id begins with; `""`: anything'),
    status: place.describe('the word that says how far it is'),
    issued: words.min(1).describe('words that say that it is issued'),
    failed: words.min(1).describe('words that say that it failed for good'),
    reasonCode: place.describe('why it failed: the word for programs'),
    reasonMessage: place.describe('why it failed: the sentence for people'),
  })
  .describe('where the parts of an invoice stand in the answers to POST and GET');
