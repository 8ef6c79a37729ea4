import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { FreezeInvoice, SendableInvoice } from '../src/domain/ports/ledger.ts';
import type { ActivityDeps } from './deps.ts';
import { createDoor, type Door } from './doorkeeper.ts';
import { eachOf } from './each-of.ts';
import { overBudget } from './failure-budget.ts';
import type { Waiting } from './merchants.ts';
import { withinRetention } from './retention-window.ts';
import { sendInvoice, type Sent } from './send-invoice.ts';

export interface SliceInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly page: number;
  readonly from: number;
  readonly to: number;
}

export interface SliceResult {
  /** Accepted now. */
  readonly accepted: number;
  /** Still to be sent, by the same key and bytes. */
  readonly left: number;
  /** The rest of the batch is held: send nothing more. */
  readonly stop: boolean;
  /** Trouble of the whole service: the page sleeps, and then asks again. */
  readonly waiting: Waiting | null;
}

/** Answers with a longer Retry-After than a slice may wait for are the page's to wait for. */
const SHORTEST_PAGE_WAIT_MS = 1_000;
/** Of 403s without a success, the one that makes it the key's trouble. */
const REFUSED_ACCESS_CODE = 'http-403';

/** The sending of slices; the door is shared by all slices of this process, so that trouble in a row is seen as such. */
export function createSubmitSlice({ ledger, service, now }: ActivityDeps) {
  const door = createDoor({ ledger, baseUrl: service.baseUrl, now });
  return (deps: ActivityDeps, input: SliceInput): Promise<SliceResult> => submitSlice(deps, door, input);
}

/** Reads what is to be sent, freezes its bytes in the ledger, POSTs, and records every answer as it comes. */
async function submitSlice(deps: ActivityDeps, door: Door, { batchId, from, to }: SliceInput): Promise<SliceResult> {
  const closed = await door.closed();
  const sendable = await withinRetention(deps, await deps.ledger.sendable(batchId, from, to));
  if (closed !== null || sendable.length === 0)
    return { accepted: 0, left: sendable.length, stop: false, waiting: closed };

  const bodies = await freezeBodies(deps, batchId, sendable);
  const slice = { accepted: 0, left: 0, refused: 0, retryAfterMs: 0, shut: false, forbidden: [] as SendableInvoice[] };
  const context = Context.current();
  // After an outage one invoice goes first, alone: it is the probe.
  const probes = door.probing() ? 1 : 0;
  await eachOf(sendable.slice(0, probes), 1, send);
  await eachOf(sendable.slice(probes), deps.settings.maxConcurrency, send);
  await judgeForbidden();

  const stop = slice.refused > 0 && (await overBudget(deps, batchId));
  const waiting = (await door.closed()) ?? longWait(slice.retryAfterMs);
  return { accepted: slice.accepted, left: slice.left, stop, waiting };

  async function send(invoice: SendableInvoice): Promise<void> {
    const body = bodies.get(invoice.invoiceId);
    if (body === undefined) return;
    if (slice.shut || context.cancellationSignal.aborted) {
      slice.left += 1;
      return;
    }
    const sentAt = deps.now();
    const sent = await sendInvoice(
      { service: deps.service, random: deps.random, pause: (ms) => sleep(ms), stopped: () => slice.shut },
      invoice,
      body,
    );
    await deps.ledger.recordSends([
      {
        invoiceId: invoice.invoiceId,
        generation: invoice.generation,
        attempts: sent.attempts,
        sentAt,
        outcome: sent.outcome,
      },
    ]);
    await judge(invoice, sent);
    context.heartbeat();
  }

  async function judge(invoice: SendableInvoice, sent: Sent): Promise<void> {
    slice.retryAfterMs = Math.max(slice.retryAfterMs, sent.retryAfterMs ?? 0);
    if (sent.outcome.kind === 'pending') slice.left += 1;
    if (sent.outcome.kind === 'accepted') slice.accepted += 1;
    if (sent.outcome.kind === 'rejected') slice.refused += 1;
    if (sent.trouble === null) return door.succeeded();
    if (sent.trouble.reason.code === REFUSED_ACCESS_CODE) {
      slice.forbidden.push(invoice);
      return;
    }
    if (sent.trouble.shut) await door.shut(sent.trouble.reason);
    else await door.troubled(sent.trouble.reason);
    slice.shut ||= door.probing();
  }

  /** A 403 while others succeed refuses that invoice only; without a success between it is the key that is refused. */
  async function judgeForbidden(): Promise<void> {
    if (slice.forbidden.length === 0) return;
    const reason = { code: REFUSED_ACCESS_CODE, message: 'The service answered 403 Forbidden.' };
    if (slice.accepted === 0) return door.shut(reason);
    await deps.ledger.recordSends(
      slice.forbidden.map(({ invoiceId, generation, mayExist }) => ({
        invoiceId,
        generation,
        attempts: 0,
        sentAt: deps.now(),
        outcome: { kind: mayExist ? 'unknown' : 'rejected', reason },
      })),
    );
    slice.left -= slice.forbidden.length;
    slice.refused += slice.forbidden.length;
  }
}

function longWait(retryAfterMs: number): Waiting | null {
  return retryAfterMs < SHORTEST_PAGE_WAIT_MS ? null : { reason: 'retry-after', probeAfterMs: retryAfterMs };
}

/** Bytes are frozen before the first send and never rebuilt; an invoice without a merchant's id cannot have bytes. */
async function freezeBodies(
  deps: ActivityDeps,
  batchId: string,
  sendable: readonly SendableInvoice[],
): Promise<Map<number, string>> {
  const bodies = new Map<number, string>();
  const fresh: FreezeInvoice[] = [];
  for (const { invoiceId, generation, body, invoice, merchantId, state } of sendable) {
    if (state === 'sending' && body !== null) bodies.set(invoiceId, body);
    else if (merchantId !== null)
      fresh.push({ invoiceId, generation, body: deps.service.invoiceBody(invoice, merchantId) });
  }
  const frozen = new Set(await deps.ledger.freeze(batchId, fresh, deps.now()));
  for (const { invoiceId, body } of fresh) if (frozen.has(invoiceId)) bodies.set(invoiceId, body);
  return bodies;
}
