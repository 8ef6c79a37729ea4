import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import { SERVICE_OPERATIONS, type MeasureRequest, type ServiceOperation } from '../../domain/ports/measures.ts';
import type { Meter } from './meter.ts';

/** Times each request that has its permit, and counts those on the wire. */
export function measureRequests(meter: Meter): MeasureRequest {
  let inFlight = 0;
  meter.onScrape(['lote_service_requests_in_flight'], (observe) =>
    observe('lote_service_requests_in_flight', inFlight),
  );
  return (operation, waitedMs) => {
    const began = performance.now();
    inFlight += 1;
    meter.time('lote_service_permit_wait_seconds', waitedMs, { operation });
    return (outcome) => {
      inFlight -= 1;
      meter.time('lote_service_request_duration_seconds', performance.now() - began, { operation, outcome });
    };
  };
}

/** The same service; what its answers mean is counted. */
export function measuredService(service: InvoicingService, meter: Meter): InvoicingService {
  // The alert counts rises, and the first denial would be none: afterwards the circuit breaker lets hardly anything leave.
  for (const operation of SERVICE_OPERATIONS)
    meter.count('lote_service_answers_total', { operation, answer: 'access-denied' }, 0);

  async function counted<Answer extends { readonly kind: string }>(
    operation: ServiceOperation,
    asked: Promise<Answer>,
    meaning: (answer: Answer) => string = ({ kind }) => kind,
  ): Promise<Answer> {
    const answer = await asked;
    meter.count('lote_service_answers_total', { operation, answer: meaning(answer) });
    return answer;
  }
  return {
    ...service,
    createInvoice: (body, key, limits) => counted('create-invoice', service.createInvoice(body, key, limits)),
    getInvoice: (serviceId, signal) =>
      counted('get-invoice', service.getInvoice(serviceId, signal), (answer) =>
        answer.kind === 'status' ? answer.status : answer.kind,
      ),
    listMerchants: (signal) => counted('list-merchants', service.listMerchants(signal)),
    createMerchant: (merchant, key, limits) =>
      counted('create-merchant', service.createMerchant(merchant, key, limits)),
    registerWebhook: (url, signal) => counted('register-webhook', service.registerWebhook(url, signal)),
  };
}
