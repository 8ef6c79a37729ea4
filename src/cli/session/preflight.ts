import { setTimeout as sleep } from 'node:timers/promises';
import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';
import type { InvoicingService } from '../../service/client.ts';

/** Lote waits this long for a service that is just restarting, and sends nothing meanwhile. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 2_000;

/**
 * Asks for the merchant list before anything is started. An unreachable service, a refused key or an unreadable list
 * ends the command here, with nothing sent and no batch made.
 * @throws LoteError `service-unreachable`, `service-unauthorized`, `service-list-unreadable`
 */
export function preflight(service: InvoicingService, now: () => number = Date.now): Promise<void> {
  return waitingFor('the invoicing service', async () => {
    const started = now();
    for (;;) {
      const answer = await service.listMerchants();
      if (answer.kind === 'list') return;
      const { code, message } = answer.reason;
      if (code !== 'service-unreachable' || now() - started > PATIENCE_MS)
        throw new LoteError(
          codeOf(code),
          `Asking the invoicing service for its merchants, before anything is sent: ${message}. Nothing was sent.`,
        );
      await sleep(RETRY_MS);
    }
  });
}

function codeOf(code: string): LoteErrorCode {
  if (code === 'service-unreachable' || code === 'service-unauthorized') return code;
  return 'service-list-unreadable';
}
