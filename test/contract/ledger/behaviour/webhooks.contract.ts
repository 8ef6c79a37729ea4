import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { acceptedOne, createScenario, delivery, NOW, REASON, recordDeliveries } from '../scenario.ts';
import type { WebhookPlace } from '../../../../src/ledger/webhooks/endpoints.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const [A, B, C] = ['https://a.example/webhooks', 'https://b.example/webhooks', 'https://c.example/webhooks'] as const;

export function webhooksContract(ledger: Ledger): void {
  const scenario = createScenario(ledger);
  const unknownIds = async () => (await ledger.deliveryTrouble(0)).unknownIds;

  describe('storeDeliveries and applyDeliveries', () => {
    it('keep the news first and move the invoice second, once, whoever has no such id', async () => {
      const { batch, serviceId } = await acceptedOne(scenario, 'two-steps');

      await ledger.storeDeliveries([delivery(serviceId, 'issued', { receivedAt: NOW + 5 })]);
      expect((await batch.line('two-steps')).state).toBe('accepted');

      const applied = await ledger.applyDeliveries([serviceId, serviceId]);
      expect(applied).toMatchObject({ settled: [{ batchId: batch.batchId }], toConfirm: [] });
      await ledger.applyDeliveries([serviceId, 'inv_of_nobody']);
      expect(await batch.line('two-steps')).toMatchObject({ state: 'issued', settledAt: NOW + 5, flags: [] });
      expect(await ledger.applyDeliveries([])).toEqual({ settled: [], toConfirm: [] });
    });

    it('lose nothing when whoever stored died before applying: reading the page applies it', async () => {
      const { batch, serviceId } = await acceptedOne(scenario, 'crash');
      await ledger.storeDeliveries([delivery(serviceId, 'issued')]);

      expect(await ledger.pageProgress(batch.batchId, 1)).toMatchObject({ accepted: 0 });
      expect((await batch.line('crash')).state).toBe('issued');
    });

    it('leave a failed event to be confirmed when the page is read', async () => {
      const { batch, serviceId, invoiceId } = await acceptedOne(scenario, 'crash-failed');
      await ledger.storeDeliveries([delivery(serviceId, 'failed', { reason: REASON })]);

      expect(await ledger.pageProgress(batch.batchId, 1)).toMatchObject({ accepted: 1, reportedFailed: 1 });
      expect(await ledger.unconfirmedFailures(batch.batchId, 1, 10)).toMatchObject([{ invoiceId }]);
    });

    it('store the same bytes once, also of many at once, and other bytes about the same invoice again', async () => {
      const { batch, serviceId } = await acceptedOne(scenario, 'dup');
      const event = delivery(serviceId, 'issued');

      expect((await recordDeliveries(ledger, [event, event])).settled).toHaveLength(1);
      const other = delivery(serviceId, 'issued', { bytes: `other ${serviceId}` });
      await Promise.all(Array.from({ length: 25 }, () => recordDeliveries(ledger, [event, other])));
      const details = await ledger.invoiceDetails(batch.batchId, 1);
      expect(details?.deliveries).toHaveLength(2);
    });

    it('read bytes again that come again once the profile understands them', async () => {
      const { batch, serviceId } = await acceptedOne(scenario, 'understood');
      const event = delivery(serviceId, 'issued', { receivedAt: NOW + 9 });
      const other = delivery(serviceId, null, { bytes: `understood ${serviceId}` });
      await recordDeliveries(ledger, [{ ...event, event: null }, other]);

      expect((await recordDeliveries(ledger, [event])).settled).toHaveLength(1);
      const again = { ...delivery(serviceId, 'failed'), sha256: other.sha256 };
      await recordDeliveries(ledger, [{ ...event, event: null }, again]);

      expect(await batch.line('understood')).toMatchObject({ state: 'issued', flags: ['failed-after-issued'] });
    });

    it('store what is unreadable, final of nothing, or without an id, and move nothing', async () => {
      const { batch, serviceId } = await acceptedOne(scenario, 'odd');
      const unreadable = { ...delivery(serviceId, 'issued', { bytes: `odd-1 ${serviceId}` }), event: null };
      const nothingFinal = delivery(serviceId, null, { bytes: `odd-2 ${serviceId}` });
      const withoutId = delivery(null, 'issued', { bytes: `odd-3 ${serviceId}` });

      const recorded = await recordDeliveries(ledger, [unreadable, nothingFinal, withoutId]);

      expect(recorded).toEqual({ settled: [], toConfirm: [] });
      expect((await batch.line('odd')).state).toBe('accepted');
    });

    it.each([
      [['failed', 'issued'], 'issued-after-failed'],
      [['issued', 'failed'], 'failed-after-issued'],
    ] as const)('store two events of one call in the order in which they came: %s', async (verdicts, flag) => {
      const { batch, serviceId } = await acceptedOne(scenario, `together-${flag}`);

      const events = verdicts.map((verdict) => delivery(serviceId, verdict));
      await recordDeliveries(ledger, events);

      expect((await batch.lines()).map(({ flags }) => flags)).toEqual([[flag]]);
    });
  });

  describe('a failed event', () => {
    it('does not settle: it asks for a confirmation, until there is one', async () => {
      const { batch, serviceId, invoiceId } = await acceptedOne(scenario, 'failed');
      const toConfirm = [{ invoiceId, serviceId, failedEvent: { reason: REASON } }];
      const unconfirmed = (page = 1) => ledger.unconfirmedFailures(batch.batchId, page, 10);

      const failed = () => scenario.hear(serviceId, 'failed', { reason: REASON });
      expect(await failed()).toEqual({ settled: [], toConfirm });
      expect((await batch.line('failed')).state).toBe('accepted');
      expect([await unconfirmed(), await unconfirmed(2)]).toEqual([toConfirm, []]);
      expect(await failed()).toMatchObject({ toConfirm });
      await scenario.ask({ invoiceId, serviceId }, 'failed', { now: NOW });
      expect(await unconfirmed()).toEqual([]);
      expect(await batch.line('failed')).toMatchObject({ state: 'failed', reason: REASON });
      expect((await scenario.hear(serviceId, 'failed', { bytes: `again ${serviceId}` })).toConfirm).toEqual([]);
    });

    it('asks for the confirmation about an unsettled invoice, too', async () => {
      const { batch, serviceId, invoiceId } = await acceptedOne(scenario, 'late-failed');
      await batch.closePage();

      const { toConfirm } = await scenario.hear(serviceId, 'failed');
      expect(toConfirm).toEqual([{ invoiceId, serviceId, failedEvent: { reason: null } }]);
      await scenario.ask({ invoiceId, serviceId }, 'unreadable', { now: NOW });

      expect((await batch.line('late-failed')).state).toBe('failed');
    });
  });

  describe('an event before the answer', () => {
    it('stays unmatched, and settles the invoice when the answer is recorded', async () => {
      const batch = await scenario.run(['early']);
      const serviceId = scenario.serviceId('early');
      const before = await unknownIds();

      const early = await scenario.hear(serviceId, 'issued', { receivedAt: NOW + 5 });
      expect(early).toEqual({ settled: [], toConfirm: [] });
      expect(await unknownIds()).toBe(before + 1);
      await batch.send('early', { kind: 'accepted', serviceId });

      expect(await batch.line('early')).toMatchObject({ state: 'issued', settledAt: NOW + 5, serviceId });
      expect(await unknownIds()).toBe(before);
    });

    it('that says failed waits for its confirmation', async () => {
      const batch = await scenario.run(['early-failed']);
      const serviceId = scenario.serviceId('early-failed');
      await scenario.hear(serviceId, 'failed', { reason: REASON });

      await batch.send('early-failed', { kind: 'accepted', serviceId });

      expect((await batch.line('early-failed')).state).toBe('accepted');
      const waiting = [{ serviceId, failedEvent: { reason: REASON } }];
      expect(await ledger.unconfirmedFailures(batch.batchId, 1, 10)).toMatchObject(waiting);
    });
  });

  describe('deliveries to look at', () => {
    it('are those that could not be read and those of unknown invoices, since a time', async () => {
      const since = NOW + 1_000_000;
      const at = { receivedAt: since + 1 };
      const { serviceId } = await acceptedOne(scenario, 'known');
      await ledger.storeDeliveries([delivery(serviceId, 'issued', at)]);
      await ledger.storeDeliveries([{ ...delivery('inv_garbage', 'issued', at), event: null }]);
      await ledger.storeDeliveries([delivery('inv_of_a_stranger', 'failed', at)]);
      await ledger.storeDeliveries([delivery('inv_of_an_earlier_stranger', 'issued', { receivedAt: since - 1 })]);

      expect(await ledger.deliveryTrouble(since)).toMatchObject({ unreadable: 1, unknownIds: 1 });
      expect(await ledger.deliveryTrouble(since + 2)).toMatchObject({ unreadable: 0, unknownIds: 0 });
    });

    it('are none about a document that an earlier generation had, without an id, or final of nothing', async () => {
      const { serviceId } = await (await scenario.run(['had'])).fail('had');
      await scenario.run([{ ref: 'had', unitPrice: '99' }]);
      const before = await unknownIds();

      const nothingFinal = delivery(scenario.serviceId('nobody-viewed'), null);
      const withoutId = delivery(null, 'issued', { bytes: randomUUID() });
      await recordDeliveries(ledger, [delivery(serviceId, 'failed'), withoutId, nothingFinal]);

      expect(await unknownIds()).toBe(before);
    });

    it('say when the last one came since a moment, or null', async () => {
      const far = NOW + 10_000_000;
      for (const receivedAt of [far, far - 1]) await scenario.hear('inv_last', null, { receivedAt });

      expect(await ledger.lastDelivery(far - 10)).toBe(far);
      expect(await ledger.lastDelivery(far + 1)).toBeNull();
    });
  });

  describe('the secrets of registrations', () => {
    const application = 'secrets';
    let baseUrl: string;
    const save = (url: string, secret: string | null, at: number) =>
      ledger.saveEndpoint({ baseUrl, application, url, secret }, at);
    const secrets = () => ledger.webhookSecrets(baseUrl, application);
    const accepted = (url: string, before: number) => ledger.webhookSecrets(baseUrl, application, { url, before });

    beforeEach(() => {
      baseUrl = `http://${randomUUID()}.example`;
    });

    it('are remembered by service and application, the last one first, also of a repeated registration', async () => {
      expect(await secrets()).toEqual([]);
      await save(A, 'old', NOW);
      await save(B, 'middle', NOW);
      await save(C, null, NOW + 2);
      const other = { baseUrl, application: 'another', url: A, secret: 'not ours' };
      await ledger.saveEndpoint(other, NOW + 3);
      expect(await secrets(), 'of one moment').toEqual(['middle', 'old']);

      await save(A, 'new', NOW + 4);
      expect(await secrets()).toEqual(['new', 'middle', 'old']);
      await save(A, 'old', NOW + 5);
      expect(await secrets(), 'the same one again').toEqual(['old', 'new', 'middle']);
      for (const at of [6, 7]) await save(A, null, NOW + at);
      expect(await secrets()).toHaveLength(3);
      expect(await ledger.webhookSecrets(`${baseUrl}/other`, application)).toEqual([]);
    });

    it('of an earlier address count until the address in use has had one of its own for long enough', async () => {
      await save(A, 'a', NOW);
      await save(B, 'b', NOW + 10);

      expect(await accepted(B, NOW + 10)).toEqual(['b', 'a']);
      expect(await accepted(B, NOW + 11)).toEqual(['b']);
      expect(await secrets()).toEqual(['b', 'a']);
    });

    it('of an earlier address count where the address in use has none, or was registered before', async () => {
      await save(A, 'a', NOW);
      await save(B, null, NOW + 10);
      await save(C, 'c', NOW + 20);

      for (const url of [A, B, 'https://new.example/webhooks'])
        expect(await accepted(url, NOW + 1_000), url).toEqual(['c', 'a']);
    });

    it('of an earlier address count where they came again, and every secret of the address in use does', async () => {
      await save(A, 'account', NOW);
      await save(B, 'b1', NOW + 10);
      await save(B, 'account', NOW + 20);
      await save(B, 'b2', NOW + 30);

      expect(await accepted(B, NOW + 1_000)).toEqual(['b2', 'account', 'b1']);
    });
  });

  describe('the claim of a registration', () => {
    let place: WebhookPlace;
    beforeEach(() => {
      place = { baseUrl: `http://${randomUUID()}.example`, application: scenario.application, url: A };
    });
    it('is given to one of many, and to no other until it is released', async () => {
      const claims = await Promise.all(Array.from({ length: 6 }, () => ledger.claimEndpoint(place)));
      const again = await ledger.claimEndpoint(place);
      await ledger.releaseEndpoint(place);

      expect(claims.toSorted()).toEqual(['claimed', ...Array.from({ length: 5 }, () => 'taken')]);
      expect([again, await ledger.claimEndpoint(place)]).toEqual(['taken', 'claimed']);
    });

    it('is not needed any more once there is an endpoint, whoever has saved it', async () => {
      await ledger.claimEndpoint(place);
      await ledger.saveEndpoint({ ...place, secret: 's' }, NOW);
      expect(await ledger.claimEndpoint(place)).toBe('registered');
    });

    it('is of one address, application and service', async () => {
      await ledger.claimEndpoint(place);
      for (const over of [{ url: B }, { application: 'other' }, { baseUrl: `http://${randomUUID()}.example` }])
        expect(await ledger.claimEndpoint({ ...place, ...over })).toBe('claimed');
    });
  });
}
