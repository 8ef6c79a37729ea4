import type { ReceiverShapes } from '../../../src/webhooks/judge-delivery.ts';

export const SHAPES: ReceiverShapes = {
  signature: { header: 'X-Service-Signature', algorithm: 'sha256', encoding: 'hex', prefix: '' },
  event: {
    type: '/type',
    invoiceId: '/data/id',
    eventId: '/id',
    reasonCode: '/data/error/code',
    reasonMessage: '/data/error/message',
  },
};

export const SECRET = 'whsec_of-the-tests';
