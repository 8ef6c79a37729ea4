import { setTimeout as sleep } from 'node:timers/promises';
import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Config } from '../../runtime/config/config.ts';

/** A service that is just restarting gets this long; nothing is sent meanwhile. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 2_000;

/**
 * Asks for the merchant list before anything is started: an unreachable service, a refused key or an unreadable list end
 * the command here, with nothing sent and no batch made.
 * @throws LoteError `service-unreachable`, `service-unauthorized`, `service-list-unreadable`
 */
export async function preflight(service: InvoicingService, now: () => number): Promise<void> {
  const started = now();
  for (;;) {
    const answer = await service.listMerchants();
    if (answer.kind === 'list') return;
    const { code, message } = answer.reason;
    if (code !== 'service-unreachable' || now() - started > PATIENCE_MS) {
      throw new LoteError(
        codeOf(code),
        `Asking the invoicing service for its merchants, before anything is sent: ${message}. Nothing was sent.`,
      );
    }
    await sleep(RETRY_MS);
  }
}

/** Asks the service of this application alone: another one's may be away, which keeps nobody from this one's. */
export function preflightOf({
  application,
}: Pick<Config, 'application'>): (service: InvoicingService, whose: string) => Promise<void> {
  return async (service, whose) => (whose === application ? preflight(service, Date.now) : undefined);
}

function codeOf(code: string): LoteErrorCode {
  if (code === 'service-unreachable' || code === 'service-unauthorized') return code;
  return 'service-list-unreadable';
}
