import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import { ofApplication } from '../../../../src/wiring/account/application-ledger.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';
import { accepted, createScenario, delivery, NOW, REASON, type Scenario } from '../../ledger/scenario.ts';

const SERVICE = 'https://invoicing.example';

describe('the ledger as one of several applications uses it', () => {
  let ledger: Ledger;
  let anna: Ledger;
  let berta: Ledger;
  let ofBerta: Scenario;
  beforeAll(async () => {
    ledger = await temporaryLedger();
    ofBerta = createScenario(ledger);
    berta = ofApplication(ledger, ofBerta.application);
    anna = ofApplication(ledger, createScenario(ledger).application);
  });
  afterAll(() => ledger.close());

  /** An accepted invoice of Berta's; its id is `inv_<ref>`. */
  async function acceptedInvoice(ref: string) {
    const batch = await ofBerta.run([{ ref }]);
    const { invoiceId } = await batch.freeze(ref);
    const serviceId = `inv_${ref}`;
    await berta.recordSends([{ invoiceId, generation: 1, attempts: 1, sentAt: NOW, outcome: accepted(serviceId) }]);
    return { batch, invoiceId, serviceId };
  }

  it('moves no invoice of another application by an event, whoever applies it', async () => {
    const { batch, serviceId } = await acceptedInvoice('issued');
    await anna.storeDeliveries([delivery(serviceId, 'issued')]);

    const applied = [await anna.applyDeliveries([serviceId]), await berta.applyDeliveries([serviceId])];
    await ledger.pageProgress(batch.batchId, 1);
    await ledger.applyMissedEvents();

    expect(applied).toEqual([
      { settled: [], toConfirm: [] },
      { settled: [], toConfirm: [] },
    ]);
    expect((await batch.line('issued')).state).toBe('accepted');
  });

  it('moves no invoice of another application by an event that came before the answer to the POST', async () => {
    await anna.storeDeliveries([delivery('inv_early', 'issued')]);
    await anna.storeDeliveries([delivery('inv_early', 'failed')]);

    const { batch } = await acceptedInvoice('early');

    expect((await batch.line('early')).state).toBe('accepted');
  });

  it('moves its own invoice by its own event, although another application stored the same bytes before', async () => {
    const { batch, serviceId } = await acceptedInvoice('own');
    const event = delivery(serviceId, 'issued');
    await anna.storeDeliveries([event]);

    expect(await berta.storeDeliveries([event])).toEqual({ stored: 1, duplicates: 0 });
    expect(await berta.storeDeliveries([event])).toEqual({ stored: 0, duplicates: 1 });
    await berta.applyDeliveries([serviceId]);

    expect((await batch.line('own')).state).toBe('issued');
  });

  it('takes no failed event of another application for the proof that an unreadable status asks for', async () => {
    const { batch, invoiceId, serviceId } = await acceptedInvoice('failed');
    await anna.storeDeliveries([delivery(serviceId, 'failed', { reason: REASON })]);

    await berta.recordStatus([{ invoiceId, serviceId, status: 'unreadable', reason: null, now: NOW }]);
    expect((await batch.line('failed')).state).toBe('accepted');

    await berta.storeDeliveries([delivery(serviceId, 'failed', { reason: REASON, receivedAt: NOW + 1 })]);
    await berta.recordStatus([{ invoiceId, serviceId, status: 'unreadable', reason: null, now: NOW }]);
    expect((await batch.line('failed')).state).toBe('failed');
  });

  it('gives nobody an invoice of another application to ask for: the answer would come for another key', async () => {
    const { serviceId, invoiceId } = await acceptedInvoice('asked');
    await berta.storeDeliveries([delivery(serviceId, 'failed', { reason: REASON })]);

    expect((await anna.applyDeliveries([serviceId])).toConfirm).toEqual([]);
    expect((await berta.applyDeliveries([serviceId])).toConfirm).toEqual([{ invoiceId, serviceId }]);
  });

  it('tells of a strange event in the reports of the application that took it, and in no other', async () => {
    const { serviceId } = await acceptedInvoice('strange');
    const since = NOW + 60_000;
    await anna.storeDeliveries([delivery(serviceId, 'issued', { receivedAt: since })]);

    expect(await anna.deliveryTrouble(since)).toEqual({ unreadable: 0, unknownIds: 1 });
    expect(await berta.deliveryTrouble(since)).toEqual({ unreadable: 0, unknownIds: 0 });
  });

  it('has a circuit breaker and a rate of its own at one address', async () => {
    await anna.openBreaker({ baseUrl: SERVICE, reason: REASON, openedAt: NOW, probeAfter: NOW });
    await anna.holdRequests(SERVICE, 60_000);

    expect(await anna.breaker(SERVICE)).toMatchObject({ reason: REASON });
    expect(await berta.breaker(SERVICE)).toBeNull();
    expect(await ledger.breaker(SERVICE)).toBeNull();
    expect((await anna.currentRate(SERVICE, 5)).heldMs).toBeGreaterThan(0);
    expect((await berta.currentRate(SERVICE, 5)).heldMs).toBe(0);
  });
});
