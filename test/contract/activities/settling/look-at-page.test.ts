import { describe, expect, it } from 'vitest';
import { lookAtPage, type PageLook } from '../../../../activities/settling/settle.ts';
import type { PageEnding } from '../../../../src/domain/messages/messages.ts';
import {
  accepted,
  delivery,
  finishStaging,
  invoiceOf,
  NOW,
  serviceIdOf,
  validInvoice,
  type TestBatch,
} from '../../ledger/scenario.ts';
import { activityPlaces, asActivity, outcomesOf, sendFirst, sentBatch, type ActivityPlace } from '../activity-place.ts';

const placeOf = activityPlaces();
const SETTLE_MS = 900_000;

/** A batch whose first two invoices are accepted, on a page of its own. */
async function twoAccepted(place: ActivityPlace): Promise<{ batch: TestBatch; ids: readonly [string, string] }> {
  const ids = [serviceIdOf(place.scenario, 'a'), serviceIdOf(place.scenario, 'b')] as const;
  const outcomes = ids.map((id) => accepted(id));
  return { batch: await sentBatch(place, outcomes), ids };
}

function look(
  place: ActivityPlace,
  { batchId }: TestBatch,
  waitMs = 0,
  ending: PageEnding = 'sent',
): Promise<PageLook> {
  const { id: ledgerId } = place.deps.ledger;
  const end = { ending, waitedFor: null };
  const page = { ledgerId, batchId, page: 1, settleMs: SETTLE_MS };
  return asActivity(lookAtPage, place.deps, { ...page, waitMs, ...end });
}

/** As the receiver stores it, and before anybody has applied it. */
async function store(place: ActivityPlace, serviceId: string, verdict: 'issued' | 'failed'): Promise<void> {
  await place.deps.ledger.storeDeliveries([delivery(serviceId, verdict)]);
}

/** As the receiver does it, to the end. */
async function receive(place: ActivityPlace, serviceId: string): Promise<void> {
  await store(place, serviceId, 'issued');
  await place.deps.ledger.applyDeliveries([serviceId]);
}

describe('a look at a page', () => {
  it('closes it when stored events have the final word of all its invoices, asks for no status, and leaves it open before', async () => {
    const place = placeOf();
    const { batch, ids } = await twoAccepted(place);
    await store(place, ids[0], 'issued');

    expect(await look(place, batch)).toMatchObject({ accepted: 1, isClosed: false, isReviewDue: false });
    expect(await outcomesOf(place, batch.batchId)).toEqual({ issued: 1, accepted: 1 });

    await store(place, ids[1], 'issued');
    expect(await look(place, batch)).toMatchObject({ accepted: 0, attached: 0, isClosed: true, isReviewDue: false });
    expect(await outcomesOf(place, batch.batchId)).toEqual({ issued: 2 });
  });

  it('waits only while few others wait in its process: each takes a workflow task', async () => {
    const place = placeOf();
    const { batch, ids } = await twoAccepted(place);
    const waiting = Array.from({ length: 20 }, () => look(place, batch, 60_000));

    expect(await look(place, batch, 60_000)).toMatchObject({ accepted: 2, isClosed: false });

    for (const id of ids) await receive(place, id);
    for (const one of await Promise.all(waiting)) expect(one).toMatchObject({ isClosed: true });
  });

  it('closes it when its final words come while it waits', async () => {
    const place = placeOf();
    const { batch, ids } = await twoAccepted(place);
    const looked = look(place, batch, 10_000);
    for (const id of ids) await receive(place, id);

    expect(await looked).toMatchObject({ isClosed: true });
  });

  it('applies at the end of its wait what was stored meanwhile and never applied', async () => {
    const { deps, ...place } = placeOf();
    const timed = { ...place, deps: { ...deps, now: () => NOW + Math.round(performance.now() - began) } };
    const began = performance.now();
    const { batch, ids } = await twoAccepted(timed);
    const looked = look(timed, batch, 400);
    for (const id of ids) await store(timed, id, 'issued');

    expect(await looked).toMatchObject({ isClosed: true });
    expect(await outcomesOf(timed, batch.batchId)).toEqual({ issued: 2 });
  });

  it.each([
    ['a failure must be confirmed', (place: ActivityPlace, id: string) => store(place, id, 'failed')],
    ['an invoice is to be polled', (place: ActivityPlace) => place.later(30_000)],
  ])('says that a review is due when %s', async (_, change) => {
    const place = placeOf();
    const { batch, ids } = await twoAccepted(place);
    await change(place, ids[0]);

    expect(await look(place, batch)).toMatchObject({ accepted: 2, isClosed: false, isReviewDue: true });
  });

  it.each(['sent', 'send-time'] as const)(
    'gives what was not sent its reason when it closes the page, whose sending ended with %s',
    async (ending) => {
      const place = placeOf();
      const batch = await place.scenario.run([{ ref: 'A' }], 1_000);

      expect(await look(place, batch, 0, ending)).toMatchObject({ isClosed: true });
      expect(await batch.line('A')).toMatchObject({ state: 'held', reason: { code: 'not-sent' } });
    },
  );

  it('says that an invoice was not sent which another file handed over to this one after its page was sent', async () => {
    const place = placeOf();
    const first = await place.scenario.begin();
    const shared = validInvoice(place.scenario.application, invoiceOf({ ref: 'A' }), 1);
    await place.deps.ledger.stageInvoices(first, [shared], NOW);
    const second = await place.scenario.run([{ ref: 'A' }], 1_000);
    expect(await look(place, second)).toMatchObject({ attached: 1, isClosed: false });

    await place.deps.ledger.refuseBatch(first, { rows: 1, fileFindings: [], proof: {}, now: NOW });

    expect(await look(place, second)).toMatchObject({ attached: 0, isClosed: true });
    expect(await second.line('A')).toMatchObject({ state: 'held', reason: { code: 'not-sent' } });
  });

  it('waits for an invoice of another file that was stopped and is read anew, until that one has sent it', async () => {
    const place = placeOf();
    const { ledger } = place.deps;
    const first = await place.scenario.begin();
    const shared = validInvoice(place.scenario.application, invoiceOf({ ref: 'A' }), 1);
    await ledger.stageInvoices(first, [shared], NOW);
    const second = await place.scenario.run([{ ref: 'A' }], 1_000);
    expect(await look(place, second)).toMatchObject({ attached: 1, isClosed: false });

    await ledger.restartStaging(first);
    expect(await look(place, second)).toMatchObject({ attached: 1, isClosed: false });
    await ledger.stageInvoices(first, [shared], NOW);
    await finishStaging(ledger, first, { invoices: 1, pageSize: 1_000 });
    const serviceId = serviceIdOf(place.scenario, 'a');
    await sendFirst(place, first, [accepted(serviceId)]);
    await receive(place, serviceId);

    for (const batch of [first, second]) {
      expect(await look(place, batch)).toMatchObject({ isClosed: true });
      expect(await outcomesOf(place, batch.batchId)).toEqual({ issued: 1 });
    }
  });
});
