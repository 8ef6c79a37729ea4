import type { Calibration } from '../../../activities/calibration.ts';
import type { Client } from '@temporalio/client';
import { createDeliveryApplier } from '../../webhooks/delivery-groups.ts';
import { startReceiver as listen, type ReceiverOptions, type Receiver } from '../../webhooks/server.ts';
import { isReadFromUnsignedHeaders } from '../../webhooks/event-reader.ts';
import { createSignalRelay } from '../../webhooks/signal-relay.ts';
import { pageWorkflowId } from '../../domain/messages/batch-id.ts';
import { tested } from '../start/test-points.ts';
import { receiverIdentity } from './receiver-identity.ts';
import type { OpenApplication } from '../start/open-application.ts';
import { createReadiness } from '../start/readiness.ts';
import type { InvoicingService } from '../../service/client.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { eachOf } from '../../platform/concurrency.ts';
import { pollOne } from '../../../activities/settling/poll-statuses.ts';
import type { AppliedDeliveries, RecordDelivery } from '../../ledger/webhooks/deliveries.ts';
import type { SettledInvoice } from '../../ledger/settling/settling.ts';

interface ConfirmationDeps {
  readonly ledger: Pick<Ledger, 'recordStatus'>;
  readonly service: InvoicingService;
  readonly calibration: Pick<Calibration, 'asked' | 'areFailuresProved' | 'isStopped'>;
  readonly onSettled: (settled: readonly SettledInvoice[]) => void;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly now: () => number;
}

/**
 * Confirms a signed `failed` event by GET as soon as it is applied, because the event alone is no proof. If the GET gets
 * no answer, or the calibration is stopped, so that none counts, the page that waits for the invoice polls it later.
 */
export async function confirmFailure(
  deps: ConfirmationDeps,
  invoice: AppliedDeliveries['toConfirm'][number],
): Promise<void> {
  try {
    if (await deps.calibration.isStopped()) return;
    const update = await pollOne(deps, invoice);
    if (update !== null) deps.onSettled(await deps.ledger.recordStatus([update]));
  } catch (error) {
    deps.log.warn('a reported failure could not be confirmed now; its page will ask again', { err: error });
  }
}

/** Lote accepts secrets of earlier addresses for a day after `WEBHOOK_URL` is registered: long enough for repeated deliveries, and a stolen secret expires. */
const EARLIER_SECRETS_MS = 24 * 60 * 60_000;

/** Concurrent GETs for the events of one delivery. */
const ASKED_AT_ONCE = 8;

/**
 * Returns true if GETs confirm the events that call invoices issued. Lote needs this for events read from unsigned
 * headers, which any sender can write. An unreadable status leaves the event valid, also a `failed` event. If this
 * returns false, the sender repeats the deliveries.
 */
async function areIssued(service: InvoicingService, deliveries: readonly RecordDelivery[]): Promise<boolean> {
  const events = deliveries.flatMap(({ event }) => (event?.verdict === 'issued' ? [event] : []));
  const ids = new Set(events.flatMap(({ serviceId }) => serviceId ?? []));
  let all = true;
  await eachOf([...ids], ASKED_AT_ONCE, async (id) => {
    if (!all) return;
    const answer = await service.getInvoice(id);
    if (answer.kind === 'not-now') all = false;
    else if (answer.status === 'unreadable' ? answer.doubtful === true : answer.status !== 'issued') all = false;
  });
  return all;
}

interface ReceiverParts extends Pick<
  OpenApplication,
  'config' | 'ledger' | 'service' | 'profile' | 'calibration' | 'log' | 'telemetry'
> {
  readonly port: number;
  readonly client: () => Client;
}

/** Starts the webhook receiver: it stores verified deliveries in the ledger, then sends one coalesced signal per page. */
export async function startReceiver(parts: ReceiverParts): Promise<Receiver> {
  const { config, port, telemetry, log } = parts;
  const { endpoint, flush } = endpointOf(parts);
  const { url, tally, close } = await listen({ host: config.receiver.host, port, ...endpoint, log });
  telemetry.deliveries(tally);
  return {
    url,
    tally,
    async close() {
      await close();
      await flush();
    },
  };
}

/** `flush` applies and signals the stored deliveries. */
function endpointOf(parts: ReceiverParts) {
  const { config, ledger, service, profile, calibration, client, log } = parts;
  const now = Date.now;
  const relay = createSignalRelay({
    pageWorkflowIdOf: (settled: SettledInvoice) => pageWorkflowId(settled.batchId, settled.page),
    send: tested('signal', async (workflowId, ordinals) => {
      await client()
        .workflow.getHandle(workflowId)
        .signal('settled', { ordinals: [...ordinals] });
    }),
    // A signal fails when its page has ended, so this is no warning.
    log: { warn: (message, fields) => log.debug(message, fields) },
  });
  const onSettled = (settled: readonly SettledInvoice[]): void => relay.add(settled);
  const confirmation = { ledger, service, calibration, onSettled, log, now };
  const applier = createDeliveryApplier({
    apply: (serviceIds) => ledger.applyDeliveries(serviceIds),
    onApplied({ settled, toConfirm }) {
      onSettled(settled);
      for (const invoice of toConfirm) void confirmFailure(confirmation, invoice);
    },
    log,
  });
  const isUnsigned = isReadFromUnsignedHeaders(profile);
  const endpoint: Omit<ReceiverOptions, 'host' | 'port' | 'log'> = {
    ledger,
    secrets: async () => {
      const { url } = config.webhook;
      const retired = url === null ? undefined : { url, before: now() - EARLIER_SECRETS_MS };
      const registered = await ledger.webhookSecrets(service.baseUrl, config.application, retired);
      return [...config.webhook.secrets, ...registered];
    },
    ready: createReadiness({ ledger: () => ledger.ping() }),
    shapes: { signature: profile.signature, event: profile.event, idPrefix: profile.invoice.idPrefix },
    ...(config.service.kind === 'remote' && { apiKey: config.service.apiKey }),
    registeredUrl: config.webhook.url,
    identity: receiverIdentity(ledger.id, config.application),
    // Words of events must agree with GETs, and a GET confirms events that any sender could have written.
    accept: async (deliveries) =>
      (await calibration.accept(deliveries)) && (!isUnsigned || (await areIssued(service, deliveries))),
    onStored: (deliveries) => applier.add(deliveries),
    note: (code, message) =>
      calibration.note(code, message).catch((err: unknown) => log.warn('a finding could not be noted', { code, err })),
  };
  return {
    endpoint,
    async flush() {
      await applier.idle();
      await relay.flush();
    },
  };
}
