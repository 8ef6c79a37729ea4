import { PLAIN } from '../../unit/webhooks/receiver-shapes.ts';
import { startReceiver } from '../../../src/webhooks/server.ts';

/** A receiver alone in its process, so that its memory can be measured apart from its senders'. */
const receiver = await startReceiver({
  ...PLAIN,
  ledger: { storeDeliveries: async () => undefined },
  onStored: () => undefined,
  log: { warn: () => undefined },
  // Nobody is hung up on for being slow: on a busy machine that would free memory before it is measured.
  timeouts: { headers: 120_000, request: 120_000 },
});

process.on('message', () => process.send?.({ url: receiver.url, rss: process.memoryUsage().rss }));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
