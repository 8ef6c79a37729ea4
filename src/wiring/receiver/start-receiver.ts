import type { AnswerWatch } from '../../../activities/profile-fit/answer-watch.ts';
import type { Client } from '@temporalio/client';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { RecordDelivery } from '../../domain/ports/ledger/delivery-ledger.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { SettledInvoice } from '../../domain/ports/ledger/settling-ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { createWebhookSecrets } from '../../runtime/config/webhook-secrets.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { createDeliveryApplier } from '../../webhooks/delivery-applier.ts';
import type { DeliveryCounts } from '../../webhooks/delivery-tally.ts';
import type { MisfitBook } from '../../webhooks/misfits/misfit-watch.ts';
import {
  startReceiver as listen,
  startReceiverOfSeveral as listenForSeveral,
  type EndpointOptions,
} from '../../webhooks/server.ts';
import { isReadFromUnsignedHeaders } from '../../webhooks/unsigned-headers.ts';
import { createSignalRelay } from '../../webhooks/signal-relay.ts';
import { pageWorkflowId } from '../../../workflows/page/page-workflow-id.ts';
import type { Capture } from '../recordings/capture.ts';
import type { OpenApplication } from '../start/open-applications.ts';
import { NO_CRASH, type CrashPoints } from '../start/crash-points.ts';
import { receiverIdentity } from './receiver-identity.ts';
import { profileDigestOf } from '../profile-fit/profile-digest.ts';
import { createReadiness } from '../start/readiness.ts';
import { confirmIssued } from '../profile-fit/confirm-issued.ts';
import { createEventWords } from '../profile-fit/event-words.ts';
import { askAgain, confirmFailure } from './failure-confirmation.ts';

export interface ReceiverParts {
  readonly config: Config;
  readonly port: number;
  readonly ledger: Ledger;
  readonly service: InvoicingService;
  readonly profile: ServiceProfile;
  /** The one of this process. */
  readonly watch: AnswerWatch;
  readonly client: () => Client;
  /** Left out: none. */
  readonly crash?: CrashPoints;
  /** Left out or null: nothing is recorded. */
  readonly capture?: Capture | null;
  /** Left out: nothing is measured. */
  readonly telemetry?: Pick<Telemetry, 'deliveries'>;
  readonly log: Logger;
}

/** The receiver of this process. */
export interface Receiver {
  readonly url: string;
  /** What became of the deliveries since the start. */
  tally(): DeliveryCounts;
  close(): Promise<void>;
}

/** What the receiver needs of each application that is open. */
export type ReceivingApplication = Pick<OpenApplication, 'core' | 'service' | 'watch'>;

/** The receiver of these applications: of an only one at the address alone, of several at one below it for each. */
export async function startReceiving(
  applications: readonly [ReceivingApplication, ...ReceivingApplication[]],
  { client, ...place }: Pick<ReceiverParts, 'config' | 'port' | 'telemetry' | 'log'> & { readonly client: Client },
): Promise<Receiver> {
  const parts = applications.map(({ core, service, watch }) => ({ ...core, service, watch, client: () => client }));
  const [first] = parts;
  return first === undefined || first.config.isOneOfSeveral
    ? startReceiverOfSeveral(parts, place)
    : startReceiver({ ...first, port: place.port });
}

/** The webhook receiver: verified deliveries into the ledger, then one coalesced signal per page. */
export async function startReceiver(parts: ReceiverParts): Promise<Receiver> {
  const { config, port, telemetry, log } = parts;
  const { endpoint, flush } = endpointOf(parts);
  const receiver = await listen({ host: config.receiver.host, port, ...endpoint, log });
  return running(receiver, [flush], telemetry);
}

/** The same for several applications: one server, and for each an address, secrets and invoices of its own. */
async function startReceiverOfSeveral(
  applications: readonly Omit<ReceiverParts, 'port'>[],
  { config, port, telemetry, log }: Pick<ReceiverParts, 'config' | 'port' | 'telemetry' | 'log'>,
): Promise<Receiver> {
  const endpoints = applications.map((parts) => ({ name: parts.config.application, ...endpointOf(parts) }));
  const receiver = await listenForSeveral({
    ...{ host: config.receiver.host, port, log },
    applications: new Map(endpoints.map(({ name, endpoint }) => [name, endpoint])),
  });
  return running(
    receiver,
    endpoints.map(({ flush }) => flush),
    telemetry,
  );
}

function running(
  receiver: Receiver,
  flushes: readonly (() => Promise<void>)[],
  telemetry?: Pick<Telemetry, 'deliveries'>,
): Receiver {
  telemetry?.deliveries(() => receiver.tally());
  return {
    url: receiver.url,
    tally: () => receiver.tally(),
    async close() {
      await receiver.close();
      await Promise.all(flushes.map(async (flush) => flush()));
    },
  };
}

interface ReceivingEndpoint {
  readonly endpoint: EndpointOptions;
  /** Applies and announces what is stored. */
  readonly flush: () => Promise<void>;
}

function endpointOf(parts: Omit<ReceiverParts, 'port'>): ReceivingEndpoint {
  const { config, ledger, service, profile, watch, capture = null, log } = parts;
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
    onApplied({ settled, toConfirm, contradicted = [] }) {
      onSettled(settled);
      for (const invoice of toConfirm) void confirmFailure({ ledger, service, watch, onSettled, log, now }, invoice);
      for (const serviceId of contradicted) void askAgain({ service, watch, log }, serviceId);
    },
    log,
  });
  const endpoint: EndpointOptions = {
    ledger,
    secrets: async () => {
      const { url, graceMs } = config.webhook;
      const retired = url === null ? undefined : { url, before: now() - graceMs };
      const registered = await ledger.webhookSecrets(service.baseUrl, config.application, retired);
      return [...(await ownSecrets()), ...registered];
    },
    ready: createReadiness({ ledger: () => ledger.ping() }),
    shapes: { signature: profile.signature, event: profile.event, idPrefix: profile.invoice.idPrefix },
    ...(config.service.kind === 'remote' && { apiKey: config.service.apiKey }),
    registeredUrl: config.webhook.url,
    identity: receiverIdentity(ledger.id, config.application),
    accept: acceptanceOf(parts),
    onStored: (deliveries) => applier.add(deliveries),
    misfits: misfitBook(ledger, profileDigestOf(config, profile)),
    ...(capture !== null && { capture: (delivery) => capture.delivery(delivery) }),
  };
  return {
    endpoint,
    async flush() {
      await applier.idle();
      await relay.flush();
    },
  };
}

/** Events whose words agree with answers and, where anybody may have written them, are confirmed by one. */
function acceptanceOf({ profile, service, watch }: Pick<ReceiverParts, 'profile' | 'service' | 'watch'>) {
  const { accept: fits } = createEventWords({ service, watch });
  if (!isReadFromUnsignedHeaders(profile)) return fits;
  const isConfirmed = confirmIssued(service);
  return async (deliveries: readonly RecordDelivery[]): Promise<boolean> =>
    (await fits(deliveries)) && (await isConfirmed(deliveries));
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
