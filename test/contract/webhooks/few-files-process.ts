import { closeSync, openSync } from 'node:fs';
import { SECRET, SHAPES } from '../../unit/webhooks/receiver-shapes.ts';
import { startReceiver } from '../../../src/webhooks/server.ts';

/** A receiver in a process that may open few files; it says whether the rest of the process still gets one. */
const receiver = await startReceiver({
  host: '127.0.0.1',
  port: 0,
  ledger: { storeDeliveries: async (deliveries) => ({ stored: deliveries.length, duplicates: 0 }) },
  secrets: async () => [SECRET],
  shapes: SHAPES,
  onStored: () => undefined,
  log: { warn: () => undefined },
  timeouts: { headers: 120_000, request: 120_000 },
});

process.on('message', () => process.send?.({ ...receiver, opened: canOpen() }));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');

function canOpen(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return true;
  } catch {
    return false;
  }
}
