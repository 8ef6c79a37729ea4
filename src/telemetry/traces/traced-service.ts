import { SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { CreateAnswer, InvoicingService } from '../../domain/ports/invoicing-service.ts';

/** Kinds of answers that are trouble. */
const TROUBLE: ReadonlySet<CreateAnswer['kind']> = new Set(['lost', 'not-now', 'key-mismatch', 'access-denied']);

/**
 * The same service; a share of the POSTs of invoices, 0 to 1, gets a span with the meaning of its answer and nothing
 * else of the invoice.
 */
export function tracedService(
  service: InvoicingService,
  { tracer, share, random }: { readonly tracer: Tracer; readonly share: number; readonly random: () => number },
): InvoicingService {
  return {
    ...service,
    async createInvoice(body, key, limits) {
      if (random() >= share) return service.createInvoice(body, key, limits);
      return tracer.startActiveSpan('POST invoice', { kind: SpanKind.CLIENT }, async (span) => {
        try {
          const answer = await service.createInvoice(body, key, limits);
          span.setAttribute('lote.answer', answer.kind);
          if (TROUBLE.has(answer.kind)) span.setStatus({ code: SpanStatusCode.ERROR });
          return answer;
        } finally {
          span.end();
        }
      });
    },
  };
}
