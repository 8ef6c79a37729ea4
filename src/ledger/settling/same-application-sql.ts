/**
 * That an event of the delivery alias `d` may speak of an invoice of `application` (an SQL expression): a service id
 * names an invoice within one account only.
 */
export function isOfApplication(application: string): string {
  return `(d.application IS NULL OR d.application = ${application})`;
}

/** The application of the invoice whose document has this service id now (an SQL expression). */
export function applicationOfDocument(serviceId: string): string {
  return `(SELECT own.application FROM invoice own WHERE own.service_id = ${serviceId})`;
}

/** The same for a document of an earlier generation. */
export function applicationOfPastDocument(serviceId: string): string {
  return `(SELECT own.application FROM invoice_generation past JOIN invoice own ON own.invoice_id = past.invoice_id WHERE past.service_id = ${serviceId})`;
}
