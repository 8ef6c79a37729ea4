import { DEFAULT_PROFILE } from '../../../src/service/profile/default-profile.ts';
import type { ReceiverShapes } from '../../../src/webhooks/event-reader.ts';

export const SHAPES: ReceiverShapes = {
  signature: DEFAULT_PROFILE.signature,
  event: DEFAULT_PROFILE.event,
  idPrefix: DEFAULT_PROFILE.invoice.idPrefix,
};

export const SECRET = 'whsec_of-the-tests';
