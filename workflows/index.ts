export { invoiceBatch } from './invoice-batch.ts';
export { invoicePage } from './invoice-page.ts';
export { reconciliation } from './reconciliation.ts';
export { retryInvoices } from './retry-invoices.ts';
export { nightMessage } from './nightly/night-message.ts';
export { nightlyIssuance } from './nightly-issuance.ts';
