import { recordDeliveries } from '../../ledger/scenario.ts';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { accepted, delivery, REASON, serviceIdOf, type TestBatch } from '../../../contract/ledger/scenario.ts';
import { sentBatch, type activityPlaces, type ActivityPlace } from '../activity-place.ts';
import type { SendOutcome } from '../../../../src/ledger/sending/record-answers.ts';
import type { StatusAnswer } from '../../../../src/domain/records/service-answers.ts';

export const SAID_FAILED: StatusAnswer = { kind: 'status', status: 'failed', reason: REASON };
export const SAID_PROCESSING: StatusAnswer = { kind: 'status', status: 'processing', reason: null };

/** `asked` are the service ids of the GETs. */
type StatusPlace = ActivityPlace & { readonly asked: string[] };

/** Workers of a service whose GET says this of every invoice. */
export function statusPlaces(placeOf: ReturnType<typeof activityPlaces>) {
  return (
    answer: (serviceId: string, signal?: AbortSignal) => StatusAnswer,
    settings: Partial<ActivityDeps['settings']> = {},
  ): StatusPlace => {
    const asked: string[] = [];
    const place = placeOf({
      settings,
      service: {
        getInvoice(serviceId, signal) {
          asked.push(serviceId);
          return Promise.resolve(answer(serviceId, signal));
        },
      },
    });
    return { ...place, asked };
  };
}

/** The first `count` invoices of a larger batch are accepted. */
export function acceptedBatch(place: ActivityPlace, count: number, unsent = 3): Promise<TestBatch> {
  return sentBatch(place, acceptances(place, count), unsent);
}

export function rejections(count: number): readonly SendOutcome[] {
  return Array.from({ length: count }, () => ({ kind: 'rejected', reason: REASON }) as const);
}

/** Of invoices whose events `events` writes. */
export function acceptances({ scenario }: ActivityPlace, count: number) {
  return Array.from({ length: count }, (_, at) => accepted(serviceIdOf(scenario, `a${at}`)));
}

/** Signed events of invoices from `from` up to, not including, `to`. */
export async function events(
  place: ActivityPlace,
  verdict: 'issued' | 'failed',
  from: number,
  to: number,
): Promise<void> {
  const ids = Array.from({ length: to - from }, (_, at) => serviceIdOf(place.scenario, `a${from + at}`));
  await recordDeliveries(
    place.deps.ledger,
    ids.map((id) => delivery(id, verdict, { reason: REASON })),
  );
}
