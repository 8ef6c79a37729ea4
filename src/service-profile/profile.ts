import { z } from 'zod';
import { AnswersSection } from './sections/answers-section.ts';
import { EventSection } from './sections/event-section.ts';
import { InvoiceSection } from './sections/invoice-section.ts';
import { MerchantsSection } from './sections/merchants-section.ts';
import { RequestsSection } from './sections/requests-section.ts';
import { place, words } from './sections/section-types.ts';
import { SignatureSection } from './sections/signature-section.ts';

/** Everything that the service's interface document does not show. Keys in the order in which docs/service-profile.md explains them. */
export const ServiceProfile = z.strictObject({
  environment: z
    .enum(['test', 'live'])
    .nullable()
    .describe(
      '`test` or `live`: the API key must begin with `sk_test_` or `sk_live_`, else nothing is sent; `null`: not checked',
    ),
  allowPlainHttp: z
    .boolean()
    .describe(
      'lets a key that is no test key go over plain HTTP to another machine, where whoever is on the way can read it',
    ),
  requests: RequestsSection,
  answers: AnswersSection,
  error: z
    .strictObject({
      code: place.describe('the word for programs'),
      message: place.describe('the sentence for people; a 4xx with text at neither place refuses nothing'),
    })
    .describe('where an error says what is wrong'),
  invoice: InvoiceSection,
  merchants: MerchantsSection,
  webhook: z
    .strictObject({
      register: z.boolean().describe('Lote registers `WEBHOOK_URL`; `false`: somebody did so by hand'),
      secret: place.describe('place of the secret in the answer to the registration'),
    })
    .describe('the registration of the receiver'),
  signature: SignatureSection,
  event: EventSection,
  idempotency: z
    .strictObject({
      retentionHours: z.number().positive().describe('how long the service remembers a key'),
      mismatchCodes: words.describe('words at `error.code` of a 4xx that say that the key is known with other bytes'),
      refusedRepeatIsProof: z
        .boolean()
        .describe(
          'a key that created an invoice is always answered with that invoice, so that a refusal of a repeat proves that none exists',
        ),
    })
    .describe('what the service does with a key that it knows'),
  limits: z
    .strictObject({
      requestsPerSecond: z.number().positive().nullable().describe('over all processes of a ledger; `null`: no limit'),
      maxConcurrency: z.number().int().min(1).max(1_000).describe('requests at a time, over all processes of a ledger'),
      pollEverySeconds: z
        .number()
        .min(1)
        .max(86_400)
        .nullable()
        .describe(
          "each invoice without a final word is asked for by GET after so many seconds, again and again, after 60 times more and more rarely; `null`: at Lote's own times, at most six, of which the first ones ask for a sample",
        ),
    })
    .describe('what the service allows'),
  retry: z
    .strictObject({
      failedReasonCodes: words.describe('failures that are sent again under a new key without an operator'),
      maxGenerations: z.number().int().min(1).max(100).describe('most keys of one invoice'),
      repeatsPerInvoice: z
        .number()
        .positive()
        .max(1_000)
        .describe('POSTs that a batch may repeat, for each of its invoices on average'),
    })
    .describe('what is sent again'),
});

/** The service profile in force; see docs/service-profile.md. */
export type ServiceProfile = z.infer<typeof ServiceProfile>;
