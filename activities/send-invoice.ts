import type { Reason } from '../src/domain/invoice.ts';
import type { CreateAnswer, InvoicingService } from '../src/domain/ports/invoicing-service.ts';
import type { SendableInvoice, SendOutcome } from '../src/domain/ports/ledger.ts';

/** POSTs of one invoice inside one slice; what is left after them is tried again in the page's next round. */
const TRIES_PER_SLICE = 3;
const FIRST_BACKOFF_MS = 200;
/** A longer Retry-After is the page's to wait for, on a timer that survives this process. */
const LONGEST_PAUSE_MS = 2_000;

export interface Sent {
  readonly attempts: number;
  readonly outcome: SendOutcome;
  /** The last answer was trouble of the whole service, not of this invoice. */
  readonly trouble: { readonly shut: boolean; readonly reason: Reason } | null;
  readonly retryAfterMs: number | null;
}

export interface SendDeps {
  readonly service: Pick<InvoicingService, 'createInvoice'>;
  readonly random: () => number;
  readonly pause: (ms: number) => Promise<void>;
  readonly stopped: () => boolean;
}

/** POSTs one invoice with its frozen bytes and key until the answer tells, or it is time to let others go first. */
export async function sendInvoice(deps: SendDeps, invoice: SendableInvoice, body: string): Promise<Sent> {
  let mayExist = invoice.mayExist;
  for (let attempts = 1; ; attempts += 1) {
    const answer = await deps.service.createInvoice(body, invoice.idempotencyKey);
    if (answer.kind === 'lost') mayExist = true;
    const outcome = outcomeOf(answer, mayExist);
    const retryAfterMs = 'retryAfterMs' in answer ? answer.retryAfterMs : null;
    const trouble = troubleOf(answer);
    const pauseMs = retryAfterMs ?? deps.random() * FIRST_BACKOFF_MS * 2 ** attempts;
    const final = outcome.kind !== 'pending' || answer.kind === 'closed-door';
    if (final || attempts >= TRIES_PER_SLICE || pauseMs > LONGEST_PAUSE_MS || deps.stopped()) {
      return { attempts, outcome, trouble, retryAfterMs };
    }
    await deps.pause(pauseMs);
  }
}

/** A definitive-looking refusal after a lost answer proves nothing about the lost one: `unknown`, never `rejected`. */
function outcomeOf(answer: CreateAnswer, mayExist: boolean): SendOutcome {
  switch (answer.kind) {
    case 'created':
      return { kind: 'accepted', serviceId: answer.serviceId };
    case 'refused':
      return { kind: mayExist ? 'unknown' : 'rejected', reason: answer.reason };
    case 'key-mismatch':
      return { kind: 'unknown', reason: answer.reason };
    case 'not-now':
    case 'lost':
    case 'closed-door':
      return { kind: 'pending', reason: answer.reason, mayExist };
  }
}

function troubleOf(answer: CreateAnswer): Sent['trouble'] {
  if (answer.kind === 'closed-door') return { shut: true, reason: answer.reason };
  if (answer.kind === 'not-now' || answer.kind === 'lost') return { shut: false, reason: answer.reason };
  return null;
}
