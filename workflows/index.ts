export { invoiceBatch } from './invoice-batch.ts';
export { invoicePage } from './invoice-page.ts';
export { nightlyIssuance } from './nightly-issuance.ts';
