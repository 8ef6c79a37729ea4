import { z } from 'zod';
import { AnswersSection } from './answers-section.ts';
import { EventSection } from './event-section.ts';
import { InvoiceSection } from './invoice-section.ts';
import { MerchantsSection } from './merchants-section.ts';
import { RequestsSection } from './requests-section.ts';
import { place, words } from './section-types.ts';
import { SignatureSection } from './signature-section.ts';

/** Everything that the service's interface document does not show. Keys in the order in which docs/service-profile.md explains them. */
export const ServiceProfile = z.strictObject({
  environment: z
    .enum(['test', 'live'])
    .nullable()
    .describe('The API key must be one for this environment, or nothing is sent; null: not checked'),
  allowPlainHttp: z
    .boolean()
    .describe(
      'A key that is not a test key may go over plain http to another machine, where whoever is on the way can read it',
    ),
  requests: RequestsSection,
  answers: AnswersSection,
  error: z
    .strictObject({
      code: place.describe('The word for programs'),
      message: place.describe('The sentence for people; a 4xx with text at neither place refuses nothing'),
    })
    .describe('Where an error says what is wrong'),
  invoice: InvoiceSection,
  merchants: MerchantsSection,
  webhook: z.strictObject({
    register: z.boolean().describe('Lote registers WEBHOOK_URL; false: somebody did so by hand'),
    secret: place.describe('The secret, from the answer to the registration'),
  }),
  signature: SignatureSection,
  event: EventSection,
  idempotency: z.strictObject({
    retentionHours: z.number().positive().describe('For how long the service remembers a key'),
    mismatchCodes: words.describe('Words at error.code of a 4xx that say that the key is known with other bytes'),
    refusedRepeatIsProof: z
      .boolean()
      .describe('A POST under a key that has created an invoice is answered with that invoice, never with a refusal'),
  }),
  limits: z.strictObject({
    requestsPerSecond: z.number().positive().nullable().describe('Over all processes of a ledger; null: no limit'),
    maxConcurrency: z.number().int().min(1).max(1_000).describe('Requests at a time, over all processes of a ledger'),
    pollEverySeconds: z
      .number()
      .min(1)
      .max(86_400)
      .nullable()
      .describe(
        'Each invoice without a final word is asked for by GET after so many seconds, again and again; null: at times of Lote',
      ),
  }),
  retry: z.strictObject({
    failedReasonCodes: words.describe('Failures that are sent again under a new key without an operator'),
    maxGenerations: z.number().int().min(1).max(100).describe('Keys that one invoice may use up'),
    repeatsPerInvoice: z
      .number()
      .positive()
      .max(1_000)
      .describe('POSTs that a batch may repeat for each of its invoices, on average'),
  }),
});

/** The service profile in force; see docs/service-profile.md. */
export type ServiceProfile = z.infer<typeof ServiceProfile>;
