export { invoiceBatch } from './invoice-batch.ts';
export { invoicePage } from './invoice-page.ts';
