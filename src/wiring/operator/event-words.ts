import { PROFILE_CONTRADICTION } from '../../domain/circuit-reasons.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Ledger, RecordDelivery } from '../../domain/ports/ledger.ts';

/** Two invoices of which event and GET say the opposite: one alone may be a mistake of the service. */
const CONTRADICTIONS = 2;
/** A service that still processes what it has called issued proves nothing, however often it is asked. */
const MOST_QUESTIONS = 20;

const OPPOSITE = { issued: 'failed', failed: 'issued' } as const;

/** What an event says of an invoice. */
interface FinalWord {
  readonly serviceId: string;
  readonly verdict: 'issued' | 'failed';
}

export interface EventWordsDeps {
  readonly service: Pick<InvoicingService, 'baseUrl' | 'getInvoice'>;
  readonly ledger: Pick<Ledger, 'openBreaker'>;
  readonly log: { error(message: string, fields?: Record<string, unknown>): void };
  readonly now: () => number;
}

/** Whether the words of the profile for events and for answers mean the same. */
export interface EventWords {
  /** False: the deliveries are not to be stored now; their sender comes again. */
  accept(deliveries: readonly RecordDelivery[]): true | Promise<boolean>;
}

/**
 * A profile that swaps the words for issued and failed, in events or in answers, would turn reports around without a word. So the first invoices of which an
 * event says one of them are asked for by GET, until one answer agrees. When two answers say the opposite, nothing more is sent, no event counts and no
 * answer, until somebody has corrected the profile and started Lote again.
 */
export function createEventWords({ service, ledger, log, now }: EventWordsDeps): EventWords {
  const contradicted = new Set<string>();
  let isProved = false;
  let questions = 0;
  let asking: Promise<void> | null = null;

  async function ask({ serviceId, verdict }: FinalWord): Promise<void> {
    questions += 1;
    const answer = await service.getInvoice(serviceId);
    const status = answer.kind === 'status' ? answer.status : null;
    if (status === verdict) isProved = true;
    if (status === OPPOSITE[verdict]) contradicted.add(serviceId);
    else if (questions >= MOST_QUESTIONS) isProved = true;
    if (contradicted.size >= CONTRADICTIONS && !isProved) await stop();
  }

  async function stop(): Promise<void> {
    const message = `Of ${contradicted.size} invoices, events of the service say the opposite of its answers (issued and failed): the service profile swaps two words, or one of them means something else. Look at these invoices at the service, correct event.issued, event.failed, invoice.issued and invoice.failed in the file named by SERVICE_PROFILE, and start Lote again. Until then nothing is sent and nothing is settled.`;
    log.error(message, { invoices: [...contradicted] });
    const reason = { code: PROFILE_CONTRADICTION, message };
    await ledger.openBreaker({ baseUrl: service.baseUrl, reason, openedAt: now(), probeAfter: now() });
  }

  async function judge(word: FinalWord): Promise<boolean> {
    while (!isProved && contradicted.size < CONTRADICTIONS) {
      const running = asking;
      // One question at a time: the first answer mostly spares all others.
      // oxlint-disable-next-line no-await-in-loop
      await (asking ??= ask(word).finally(() => (asking = null)));
      if (running === null) break;
    }
    return isProved || (contradicted.size < CONTRADICTIONS && !contradicted.has(word.serviceId));
  }

  return {
    accept(deliveries) {
      if (isProved) return true;
      const word = deliveries.map(finalWord).find((one) => one !== null) ?? null;
      return word === null ? true : judge(word);
    },
  };
}

function finalWord({ event }: RecordDelivery): FinalWord | null {
  if (event === null || event.verdict === null || event.serviceId === null) return null;
  return { serviceId: event.serviceId, verdict: event.verdict };
}
