import type { ActivityDeps } from '../../../../activities/deps.ts';
import type { StatusAnswer } from '../../../../src/domain/ports/invoicing-service.ts';
import { accepted, delivery, REASON, serviceIdOf, type TestBatch } from '../../../contract/ledger/scenario.ts';
import { sendFirst, type activityPlaces, type ActivityPlace } from '../activity-place.ts';

export const SAID_FAILED: StatusAnswer = { kind: 'status', status: 'failed', reason: REASON };
export const SAID_PROCESSING: StatusAnswer = { kind: 'status', status: 'processing', reason: null };

/** `asked` are the service ids of the GETs. */
type StatusPlace = ActivityPlace & { readonly asked: string[] };

/** Workers of a service whose GET says this of every invoice. */
export function statusPlaces(placeOf: ReturnType<typeof activityPlaces>) {
  return (
    answer: (serviceId: string) => StatusAnswer,
    settings: Partial<ActivityDeps['settings']> = {},
  ): StatusPlace => {
    const asked: string[] = [];
    const place = placeOf({
      settings,
      service: {
        getInvoice(serviceId) {
          asked.push(serviceId);
          return Promise.resolve(answer(serviceId));
        },
      },
    });
    return { ...place, asked };
  };
}

/** The first `count` invoices of a larger batch are accepted. */
export async function acceptedBatch(place: ActivityPlace, count: number, unsent = 3): Promise<TestBatch> {
  const texts = Array.from({ length: count + unsent }, (_, at) => ({ ref: `R${at}` }));
  const batch = await place.scenario.run(texts, 1_000);
  await sendFirst(place, batch, acceptances(place, count));
  return batch;
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
  await place.deps.ledger.recordDeliveries(ids.map((id) => delivery(id, verdict, { reason: REASON })));
}
