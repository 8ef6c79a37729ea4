import type { Client } from '@temporalio/client';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Ledger, SettledInvoice } from '../../domain/ports/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { createWebhookSecrets } from '../../runtime/config/webhook-secrets.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { createDeliveryApplier } from '../../webhooks/delivery-applier.ts';
import type { DeliveryCounts } from '../../webhooks/delivery-tally.ts';
import type { MisfitBook } from '../../webhooks/misfits/misfit-watch.ts';
import { startReceiver as listen } from '../../webhooks/server.ts';
import { createSignalRelay } from '../../webhooks/signal-relay.ts';
import { pageWorkflowId } from '../../../workflows/page/page-workflow-id.ts';
import { NO_CRASH, type CrashPoints } from './crash-points.ts';
import { profileDigestOf } from '../account/profile-digest.ts';
import { createReadiness } from './readiness.ts';
import { createEventWords } from '../operator/event-words.ts';
import { confirmFailure } from '../operator/failure-confirmation.ts';

export interface ReceiverParts {
  readonly config: Config;
  readonly port: number;
  readonly ledger: Ledger;
  readonly service: InvoicingService;
  readonly profile: ServiceProfile;
  readonly client: () => Client;
  /** Left out: none. */
  readonly crash?: CrashPoints;
  readonly log: Logger;
}

/** The receiver of this process. */
export interface Receiver {
  readonly url: string;
  /** What became of the deliveries since the start. */
  tally(): DeliveryCounts;
  close(): Promise<void>;
}

/** The webhook receiver: verified deliveries into the ledger, then one coalesced signal per page. */
export async function startReceiver(parts: ReceiverParts): Promise<Receiver> {
  const { config, ledger, service, profile, log } = parts;
  const now = Date.now;
  const ownSecrets = createWebhookSecrets(config.webhook, log);
  const relay = createSignalRelay({
    pageWorkflowIdOf: (settled: SettledInvoice) => pageWorkflowId(settled.batchId, settled.page),
    send: (parts.crash ?? NO_CRASH).signal(async (workflowId: string, ordinals: readonly number[]) => {
      await parts
        .client()
        .workflow.getHandle(workflowId)
        .signal('settled', { ordinals: [...ordinals] });
    }),
    // A page that has ended takes no more signals.
    log: { warn: (message, fields) => log.debug(message, fields) },
  });
  const onSettled = (settled: readonly SettledInvoice[]): void => relay.add(settled);
  const applier = createDeliveryApplier({
    apply: (serviceIds) => ledger.applyDeliveries(serviceIds),
    onApplied({ settled, toConfirm }) {
      onSettled(settled);
      for (const invoice of toConfirm) void confirmFailure({ ledger, service, onSettled, log, now }, invoice);
    },
    log,
  });
  const receiver = await listen({
    host: config.receiver.host,
    port: parts.port,
    ledger,
    secrets: async () => [
      ...(await ownSecrets()),
      ...(await ledger.webhookSecrets(service.baseUrl, config.application)),
    ],
    ready: createReadiness({ ledger: () => ledger.ping() }),
    shapes: { signature: profile.signature, event: profile.event, idPrefix: profile.invoice.idPrefix },
    registeredUrl: config.webhook.url,
    accept: createEventWords({ service, ledger, log, now }).accept,
    onStored: (deliveries) => applier.add(deliveries),
    misfits: misfitBook(ledger, profileDigestOf(config, profile)),
    log,
  });
  return {
    url: receiver.url,
    tally: () => receiver.tally(),
    async close() {
      await receiver.close();
      await applier.idle();
      await relay.flush();
    },
  };
}

function misfitBook(ledger: Ledger, profileDigest: string): MisfitBook {
  return {
    note: (items) => ledger.noteMisfits(profileDigest, items),
    clear: (code) => ledger.clearMisfit(profileDigest, code),
    async knownIds(ids) {
      let known = 0;
      for (const id of ids) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other: nobody waits for it
        const found = await ledger.findInvoices(id, 2);
        if (found.some(({ serviceId }) => serviceId === id)) known += 1;
      }
      return known;
    },
  };
}
