import { DEFAULT_PROFILE } from '../../service-profile/default-profile.ts';
import { loadProfile } from '../../service-profile/load-profile.ts';
import { checkProfile } from '../../service-profile/check-profile.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { isFinding, type Recognised } from '../../service-profile/recognise/finding.ts';
import { proposalOf } from '../../service-profile/recognise/proposal.ts';
import { eventsAbout, recognise } from '../../service-profile/recognise/recognise.ts';
import { is2xx } from '../../service-profile/place.ts';
import type { ServiceAccount } from '../account/open-service.ts';
import { deliveryAddress } from '../receiver/webhook-address.ts';
import { answered, openProbeCalls } from './probe-calls.ts';
import { probePaging } from './probe-paging.ts';
import { probeService, type ProbeParts, type ProbeRecord } from './probe-service.ts';
import { probeSignature } from './probe-signature.ts';
import type { ProbeSubject } from './probe-subject.ts';
import { readBack, type ReadBack } from './read-back.ts';
import type { TemporaryReceiver } from './temporary-receiver.ts';

/** Where deliveries come. */
export interface ProbeReceiver {
  /** The address by which the service reaches it. */
  readonly url: string;
  readonly deliveries: TemporaryReceiver['deliveries'];
  /** Of WEBHOOK_SECRET. */
  readonly secrets: readonly string[];
}

/** What a probe is made with. */
export interface ProbeRequest {
  readonly account: ServiceAccount;
  readonly application: string;
  /** The profile from which the probe starts, as its file says it and as it is in force. */
  readonly base: { readonly document: Readonly<Record<string, unknown>>; readonly profile: ServiceProfile };
  readonly subject: ProbeSubject;
  /** Null: the service could reach none. */
  readonly receiver: ProbeReceiver | null;
  readonly waitMs: number;
  readonly say: (step: string) => void;
}

/** What a probe found out. */
export interface ProbeResult {
  readonly recognised: Recognised;
  readonly readBack: readonly ReadBack[];
  /** A profile as JSON with comments. */
  readonly proposal: string;
  /** Everything that was created is known, and Lote reads all of it with the proposal. */
  readonly complete: boolean;
  readonly requests: number;
}

/** Probes a service and proposes a profile. @throws LoteError when it cannot be reached, or lets nobody in. */
export async function runProbe(request: ProbeRequest): Promise<ProbeResult> {
  const { account, application, base, subject, receiver, waitMs, say } = request;
  const calls = openProbeCalls(account, base.profile, application);
  try {
    const secrets = receiver?.secrets ?? [];
    const plainUrl = receiver?.url ?? null;
    const webhookUrl =
      plainUrl === null ? null : deliveryAddress(plainUrl, base.profile.signature.kind, secrets[0] ?? null);
    const deliveries = receiver === null ? null : () => receiver.deliveries();
    const parts: ProbeParts = { calls, profile: base.profile, subject, deliveries, webhookUrl, waitMs, say };
    const record = await probeService(parts);
    const kept = receiver?.deliveries() ?? [];
    const { registered } = record;
    const registers = base.profile.webhook.register;
    const signature = probeSignature({ deliveries: kept, registered, registers, secrets, url: plainUrl });
    const proved = signature.proved.length > 0 ? signature.proved : kept;
    const recording = { ...record, deliveries: proved.map(({ document }) => document) };
    const own = recognise(recording);
    say('looking how the list of merchants goes on');
    const paging = await pagingOf(parts, record, own);
    const events = eventsAbout(recording.deliveries, record.invoice).length;
    const all = [...own, ...paging, ...withoutEvents(signature.recognised, webhookUrl, events)];
    const proposal = proposalOf(base.document, all);
    const profile = loadProfile(proposal.text);
    say('reading everything back with the proposal');
    const back = await readBack({
      ...{ account, application, profile, subject, record, calls, webhookUrl: plainUrl },
      ...{ deliveries: proved, secret: signature.secret },
    });
    return {
      recognised: inProfileOrder(proposal.recognised),
      readBack: back,
      proposal: proposal.text,
      complete: back.every(({ right }) => right) && checkProfile(proposal.text).mistakes.length === 0,
      requests: calls.sent(),
    };
  } finally {
    await calls.close();
  }
}

function inProfileOrder(recognised: Recognised): Recognised {
  const sections = Object.keys(DEFAULT_PROFILE);
  const at = ({ key }: Recognised[number]): number => sections.indexOf(key.split('.')[0] ?? '');
  return recognised.toSorted((one, other) => at(one) - at(other));
}

/** A receiver that heard nothing of the invoice shows nothing of the events. */
function withoutEvents(recognised: Recognised, webhookUrl: string | null, events: number): Recognised {
  return webhookUrl === null || events > 0
    ? recognised
    : recognised.filter((one) => !isFinding(one) || one.key === 'webhook.secret');
}

async function pagingOf({ calls, profile, subject }: ProbeParts, { list, merchant }: ProbeRecord, own: Recognised) {
  if (list === null) return [];
  const id = own.find(({ key }) => key === 'merchants.id');
  const idPlace = id !== undefined && isFinding(id) && typeof id.value === 'string' ? id.value : null;
  return probePaging({
    path: profile.requests.listMerchants.path,
    baseUrl: calls.baseUrl,
    first: list,
    merchant: { nif: subject.nif, id: merchant.id },
    idPlace,
    get: async (path) => {
      const page = answered(await calls.get(path));
      return page !== null && is2xx(page) ? page : null;
    },
  });
}
