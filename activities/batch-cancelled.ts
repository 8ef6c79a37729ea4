import type { Reason } from '../src/domain/invoice.ts';

/** Of an invoice that was not sent when an operator cancelled its batch, whether its page or the batch writes it down. */
export const BATCH_CANCELLED: Reason = {
  code: 'batch-cancelled',
  message: 'An operator cancelled what was not sent yet. Drop the file again to send it.',
};
