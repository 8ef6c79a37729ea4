import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  accepted,
  acceptedOne,
  createScenario,
  delivery,
  NIF,
  NOW,
  OTHER_NIF,
  REASON,
  type Scenario,
  recordDeliveries,
} from '../scenario.ts';
import type { WebhookPlace } from '../../../../src/ledger/webhooks/endpoints.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

export function webhooksContract(ledger: Ledger): void {
  let scenario: Scenario;
  const openScenario = (): void => void (scenario = createScenario(ledger));

  describe('storeDeliveries and applyDeliveries', () => {
    beforeAll(openScenario);

    it('keep the news first and move the invoice second', async () => {
      const { batch, serviceId } = await acceptedOne(scenario, 'two-steps');

      expect(await ledger.storeDeliveries([delivery(serviceId, 'issued')])).toBe(1);
      expect((await batch.line('two-steps')).state).toBe('accepted');

      expect(await ledger.applyDeliveries([serviceId])).toMatchObject({
        settled: [{ state: 'issued' }],
        toConfirm: [],
      });
      expect((await batch.line('two-steps')).state).toBe('issued');
    });

    it('apply nothing twice, and nothing to ids that nobody has', async () => {
      const { batch, serviceId } = await acceptedOne(scenario, 'again');
      await ledger.storeDeliveries([delivery(serviceId, 'issued', { receivedAt: NOW + 5 })]);

      await ledger.applyDeliveries([serviceId, serviceId]);
      await ledger.applyDeliveries([serviceId, 'inv_of_nobody']);

      expect(await batch.line('again')).toMatchObject({ state: 'issued', settledAt: NOW + 5, flags: [] });
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
  });

  describe('recordDeliveries', () => {
    beforeAll(openScenario);

    it('stores the same bytes once and other bytes about the same invoice again', async () => {
      const { serviceId } = await acceptedOne(scenario, 'dup');
      const event = delivery(serviceId, 'issued');

      expect(await recordDeliveries(ledger, [event, event])).toMatchObject({
        stored: 1,
        settled: [{ state: 'issued' }],
      });
      expect(await recordDeliveries(ledger, [event])).toMatchObject({ stored: 0 });
      expect(
        await recordDeliveries(ledger, [delivery(serviceId, 'issued', { bytes: `other ${serviceId}` })]),
      ).toMatchObject({ stored: 1 });
    });

    it('reads bytes again that come again once the profile understands them', async () => {
      const { batch, serviceId } = await acceptedOne(scenario, 'understood');
      const event = delivery(serviceId, 'issued', { receivedAt: NOW + 9 });
      const other = delivery(serviceId, null, { bytes: `understood ${serviceId}` });
      await recordDeliveries(ledger, [{ ...event, event: null }, other]);

      expect(await recordDeliveries(ledger, [event])).toMatchObject({ stored: 0, settled: [{ state: 'issued' }] });
      await recordDeliveries(ledger, [
        { ...event, event: null },
        { ...delivery(serviceId, 'failed'), sha256: other.sha256 },
      ]);

      expect(await batch.line('understood')).toMatchObject({ state: 'issued', flags: ['failed-after-issued'] });
    });

    it('keeps one count for many who deliver the same bytes at once', async () => {
      const { serviceId } = await acceptedOne(scenario, 'storm');
      const event = delivery(serviceId, 'issued');

      const results = await Promise.all(Array.from({ length: 25 }, () => recordDeliveries(ledger, [event])));

      expect(results.reduce((sum, result) => sum + result.stored, 0)).toBe(1);
    });

    it('stores what is unreadable, final of nothing, or without an id, and moves nothing', async () => {
      const { batch, serviceId } = await acceptedOne(scenario, 'odd');
      const unreadable = { ...delivery(serviceId, 'issued', { bytes: `odd-1 ${serviceId}` }), event: null };
      const nothingFinal = delivery(serviceId, null, { bytes: `odd-2 ${serviceId}` });
      const withoutId = delivery(null, 'issued', { bytes: `odd-3 ${serviceId}` });

      expect(await recordDeliveries(ledger, [unreadable, nothingFinal, withoutId])).toEqual({
        stored: 3,
        settled: [],
        toConfirm: [],
      });

      expect((await batch.line('odd')).state).toBe('accepted');
    });

    it('does not settle on failed: it asks for a confirmation, until there is one', async () => {
      const { batch, serviceId, invoiceId } = await acceptedOne(scenario, 'failed');

      const result = await recordDeliveries(ledger, [delivery(serviceId, 'failed', { reason: REASON })]);

      expect(result).toEqual({
        stored: 1,
        settled: [],
        toConfirm: [{ invoiceId, serviceId, failedEvent: { reason: REASON } }],
      });
      expect((await batch.line('failed')).state).toBe('accepted');
      expect(await ledger.unconfirmedFailures(batch.batchId, 1, 10)).toEqual([
        { invoiceId, serviceId, failedEvent: { reason: REASON } },
      ]);
      expect(await ledger.unconfirmedFailures(batch.batchId, 2, 10)).toEqual([]);
      expect(
        (await recordDeliveries(ledger, [delivery(serviceId, 'failed', { reason: REASON })])).toConfirm,
      ).toHaveLength(1);
      await scenario.ask({ invoiceId, serviceId }, 'failed', { now: NOW });
      expect(await ledger.unconfirmedFailures(batch.batchId, 1, 10)).toEqual([]);
      expect(await batch.line('failed')).toMatchObject({ state: 'failed', reason: REASON });
      expect(
        (await recordDeliveries(ledger, [delivery(serviceId, 'failed', { bytes: `again ${serviceId}` })])).toConfirm,
      ).toEqual([]);
    });

    it('asks for the confirmation of a failed event about an unsettled invoice', async () => {
      const { batch, serviceId, invoiceId } = await acceptedOne(scenario, 'late-failed');
      await ledger.closePage(batch.batchId, 1, { acceptedBefore: NOW + 1, reason: REASON, now: NOW });

      expect((await recordDeliveries(ledger, [delivery(serviceId, 'failed')])).toConfirm).toEqual([
        { invoiceId, serviceId, failedEvent: { reason: null } },
      ]);
      await scenario.ask({ invoiceId, serviceId }, 'unreadable', { now: NOW });

      expect((await batch.line('late-failed')).state).toBe('failed');
    });
  });

  describe('an event before the answer', () => {
    beforeAll(openScenario);

    it('stays unmatched, and settles the invoice when the answer is recorded', async () => {
      const batch = await scenario.run(['early']);
      const serviceId = scenario.serviceId('early');
      const before = (await ledger.deliveryTrouble(0)).unknownIds;

      const early = await recordDeliveries(ledger, [delivery(serviceId, 'issued', { receivedAt: NOW + 5 })]);
      expect(early).toEqual({ stored: 1, settled: [], toConfirm: [] });
      expect((await ledger.deliveryTrouble(0)).unknownIds).toBe(before + 1);
      const settled = await batch.send('early', accepted(serviceId));

      expect(settled).toMatchObject([{ batchId: batch.batchId, ordinal: 1, state: 'issued' }]);
      expect(await batch.line('early')).toMatchObject({ state: 'issued', settledAt: NOW + 5, serviceId });
      expect((await ledger.deliveryTrouble(0)).unknownIds).toBe(before);
    });

    it('that says failed waits for its confirmation', async () => {
      const batch = await scenario.run(['early-failed']);
      const serviceId = scenario.serviceId('early-failed');
      await recordDeliveries(ledger, [delivery(serviceId, 'failed', { reason: REASON })]);

      expect(await batch.send('early-failed', accepted(serviceId))).toEqual([]);

      expect((await batch.line('early-failed')).state).toBe('accepted');
      expect(await ledger.unconfirmedFailures(batch.batchId, 1, 10)).toMatchObject([
        { serviceId, failedEvent: { reason: REASON } },
      ]);
    });
  });

  describe('deliveries that somebody should look at', () => {
    beforeAll(openScenario);

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
  });

  describe('endpoints, merchants and the breaker', () => {
    beforeAll(openScenario);

    it('remembers a registration and its secret', async () => {
      const baseUrl = `http://127.0.0.1/${scenario.application}`;
      const endpoint = { baseUrl, application: scenario.application, url: 'https://a.example/webhooks', secret: 's1' };
      expect(await ledger.webhookSecrets(baseUrl, scenario.application)).toEqual([]);

      await ledger.saveEndpoint(endpoint, NOW);
      await ledger.saveEndpoint({ ...endpoint, url: 'https://b.example/webhooks', secret: 's2' }, NOW + 1);
      await ledger.saveEndpoint({ ...endpoint, url: 'https://c.example/webhooks', secret: null }, NOW + 2);
      await ledger.saveEndpoint({ ...endpoint, application: 'another', secret: 'not ours' }, NOW + 3);

      expect(await ledger.webhookSecrets(baseUrl, scenario.application)).toEqual(['s2', 's1']);
      expect(await ledger.webhookSecrets(`${baseUrl}/other`, scenario.application)).toEqual([]);
    });

    it('puts the secret of a repeated registration first', async () => {
      const baseUrl = `http://127.0.0.1/again/${scenario.application}`;
      const endpoint = { baseUrl, application: scenario.application, url: 'https://a.example/webhooks', secret: 'old' };
      await ledger.saveEndpoint(endpoint, NOW);
      await ledger.saveEndpoint({ ...endpoint, url: 'https://b.example/webhooks', secret: 'middle' }, NOW + 1);

      await ledger.saveEndpoint({ ...endpoint, secret: 'new' }, NOW + 2);

      expect(await ledger.webhookSecrets(baseUrl, scenario.application)).toEqual(['new', 'middle', 'old']);
      await ledger.saveEndpoint(endpoint, NOW + 3);
      expect(await ledger.webhookSecrets(baseUrl, scenario.application), 'the same one again').toEqual([
        ...['old', 'new', 'middle'],
      ]);
      await ledger.saveEndpoint({ ...endpoint, secret: null }, NOW + 4);
      await ledger.saveEndpoint({ ...endpoint, secret: null }, NOW + 5);
      expect(await ledger.webhookSecrets(baseUrl, scenario.application)).toHaveLength(3);
    });

    describe('the secret of an earlier address', () => {
      const [A, B, C] = ['https://a.example/webhooks', 'https://b.example/webhooks', 'https://c.example/webhooks'];
      const application = 'secrets';
      let baseUrl: string;
      const save = (url: string, secret: string | null, at: number) =>
        ledger.saveEndpoint({ baseUrl, application, url, secret }, at);
      const accepted = (url: string, before: number) => ledger.webhookSecrets(baseUrl, application, { url, before });

      beforeEach(() => {
        baseUrl = `http://${randomUUID()}.example`;
      });

      it('counts until the address in use has had a secret of its own for long enough', async () => {
        await save(A, 'a', NOW);
        await save(B, 'b', NOW + 10);

        expect(await accepted(B, NOW + 10)).toEqual(['b', 'a']);
        expect(await accepted(B, NOW + 11)).toEqual(['b']);
        expect(await ledger.webhookSecrets(baseUrl, application)).toEqual(['b', 'a']);
      });

      it('counts where the address in use has none, or was registered before', async () => {
        await save(A, 'a', NOW);
        await save(B, null, NOW + 10);
        await save(C, 'c', NOW + 20);

        expect(await accepted(B, NOW + 1_000)).toEqual(['c', 'a']);
        expect(await accepted(A, NOW + 1_000)).toEqual(['c', 'a']);
        expect(await accepted('https://new.example/webhooks', NOW + 1_000)).toEqual(['c', 'a']);
      });

      it('counts where the same secret came again, and every secret of the address in use does', async () => {
        await save(A, 'account', NOW);
        await save(B, 'b1', NOW + 10);
        await save(B, 'account', NOW + 20);
        await save(B, 'b2', NOW + 30);

        expect(await accepted(B, NOW + 1_000)).toEqual(['b2', 'account', 'b1']);
      });
    });

    describe('the claim of a registration', () => {
      const TTL = { ttlMs: 60_000 };
      let place: WebhookPlace;
      beforeEach(() => {
        place = {
          baseUrl: `http://${randomUUID()}.example`,
          application: scenario.application,
          url: 'https://a.example/',
        };
      });
      const claim = (claimant: string, ttlMs = TTL.ttlMs) => ledger.claimEndpoint(place, { claimant, ttlMs });

      it('is given to one of many, and to no other until it ends', async () => {
        const names = ['a', 'b', 'c', 'd', 'e', 'f'];

        const claims = await Promise.all(names.map((name) => claim(name)));
        const winner = names[claims.findIndex(({ kind }) => kind === 'claimed')] ?? '';
        const again = await claim('g');
        await ledger.endEndpointClaim(place, { claimant: winner, answered: true });

        expect(claims.map(({ kind }) => kind).toSorted()).toEqual(['claimed', ...names.slice(1).map(() => 'taken')]);
        expect(again).toEqual({ kind: 'taken' });
        expect(await claim('g'), 'it was refused').toEqual({ kind: 'claimed', unanswered: 0 });
      });

      it('is not needed any more once there is an endpoint, whoever has saved it', async () => {
        await claim('a');
        await ledger.saveEndpoint({ ...place, secret: 's' }, NOW);
        const during = await claim('b');
        await ledger.endEndpointClaim(place, { claimant: 'a', answered: true });

        expect([during, await claim('b')]).toEqual([{ kind: 'registered' }, { kind: 'registered' }]);
      });

      it('passes on when it is not kept, and says how many went without an answer', async () => {
        await claim('dead', -1);
        const second = await claim('slow');
        await ledger.keepEndpointClaim(place, { claimant: 'slow', ttlMs: -1 });
        const third = await claim('c');
        await ledger.keepEndpointClaim(place, { claimant: 'slow', ttlMs: -1 });
        const held = await claim('d');
        await ledger.endEndpointClaim(place, { claimant: 'slow', answered: true });
        const still = await claim('d');
        await ledger.endEndpointClaim(place, { claimant: 'c', answered: false });

        expect(second).toEqual({ kind: 'claimed', unanswered: 1 });
        expect(third).toEqual({ kind: 'claimed', unanswered: 2 });
        expect([held, still], 'a claim that was lost is neither kept nor ended').toEqual([
          { kind: 'taken' },
          { kind: 'taken' },
        ]);
        expect(await claim('d'), 'of the dead one and of c').toEqual({ kind: 'claimed', unanswered: 2 });
      });

      it('is of one address, application and service', async () => {
        await claim('a');

        for (const over of [
          { url: 'https://b.example/' },
          { application: 'other' },
          { baseUrl: 'http://other.example' },
        ]) {
          const other = { ...place, ...over, ...(over.baseUrl && { baseUrl: `http://${randomUUID()}.example` }) };
          expect(await ledger.claimEndpoint(other, { claimant: 'b', ...TTL })).toMatchObject({ kind: 'claimed' });
        }
      });
    });

    it('asks for unknown merchants of unsent invoices, with the first details that the file has', async () => {
      const batch = await scenario.run(
        [
          { ref: 'm1', nif: OTHER_NIF },
          { ref: 'm2', nif: NIF, email: 'first@example.pt' },
          { ref: 'm3', nif: OTHER_NIF, legalName: 'Other' },
          { ref: 'm4', nif: NIF, legalName: 'Name', email: 'second@example.pt' },
          { ref: 'm5', nif: '1', legalName: 'Sent already' },
        ],
        10,
      );
      await batch.freeze('m5');

      expect(await ledger.merchantsNeeded(batch.batchId)).toEqual([
        { nif: OTHER_NIF, legalName: 'Other', email: null },
        { nif: NIF, legalName: 'Name', email: 'first@example.pt' },
      ]);
    });

    it('gives no id of a merchant whose invoices were taken under another one, until it is listed as before', async () => {
      const own = createScenario(ledger);
      const batch = await own.run(['taken', 'next'], 1);
      const save = (merchantId: string | null) => ledger.saveMerchants(own.application, [{ nif: NIF, merchantId }]);
      expect(await save('mrc_1')).toEqual([]);
      await batch.send('taken', accepted(own.serviceId('taken')));

      for (const listed of ['mrc_2', 'mrc_2', null, 'mrc_3']) {
        expect(await save(listed)).toEqual([NIF]);
        expect((await batch.one('next')).merchantId).toBeNull();
        expect(await ledger.hasSendable(batch.batchId)).toBe(false);
      }
      expect(await save('mrc_1')).toEqual([]);
      expect((await batch.one('next')).merchantId).toBe('mrc_1');
    });

    it('says whether a batch has something unsent whose merchant is known', async () => {
      const own = createScenario(ledger);
      const batch = await own.run(['can-be-sent']);
      expect(await ledger.hasSendable(batch.batchId)).toBe(false);

      await ledger.saveMerchants(own.application, [{ nif: OTHER_NIF, merchantId: 'mrc_other' }]);
      expect(await ledger.hasSendable(batch.batchId)).toBe(false);
      await ledger.saveMerchants(own.application, [{ nif: NIF, merchantId: 'mrc_1' }]);
      expect(await ledger.hasSendable(batch.batchId)).toBe(true);
      expect(await ledger.hasSendable('another batch')).toBe(false);

      await ledger.holdUnsent(batch.batchId, { reason: { code: 'stopped', message: 'no' }, now: 1 });
      expect(await ledger.hasSendable(batch.batchId)).toBe(false);
    });

    it('counts what has its bytes among it, whose merchant need not be known any more', async () => {
      const batch = await createScenario(ledger).run(['has-its-bytes']);
      await batch.freeze('has-its-bytes');

      expect(await ledger.hasSendable(batch.batchId)).toBe(true);
    });

    it('keeps merchants by application, takes the first of two in one list, and follows the service when an id changes', async () => {
      const { application } = createScenario(ledger);
      await ledger.saveMerchants(application, [
        { nif: NIF, merchantId: 'mrc_a' },
        { nif: NIF, merchantId: 'mrc_b' },
      ]);
      const own = createScenario(ledger);
      const batch = await own.run(['of-a-merchant']);

      expect(await ledger.merchantsNeeded(batch.batchId)).toHaveLength(1);
      await ledger.saveMerchants(own.application, [
        { nif: NIF, merchantId: 'mrc_a' },
        { nif: NIF, merchantId: 'mrc_b' },
      ]);
      expect((await batch.one('of-a-merchant')).merchantId).toBe('mrc_a');
      await ledger.saveMerchants(own.application, [{ nif: NIF, merchantId: 'mrc_c' }]);
      await ledger.saveMerchants(own.application, []);

      expect((await batch.one('of-a-merchant')).merchantId).toBe('mrc_c');
    });

    it('opens, prolongs and closes the breaker of a base address', async () => {
      const baseUrl = `http://127.0.0.1/breaker/${scenario.application}`;
      expect(await ledger.breaker(baseUrl)).toBeNull();

      await ledger.openBreaker({ baseUrl, reason: REASON, openedAt: NOW, probeAfter: NOW + 10 });
      const longer = { code: 'outage', message: 'Still out' };
      await ledger.openBreaker({ baseUrl, reason: longer, openedAt: NOW + 5, probeAfter: NOW + 20 });
      expect(await ledger.breaker(baseUrl)).toEqual({
        baseUrl,
        reason: longer,
        openedAt: NOW,
        probeAfter: NOW + 20,
        probingUntil: null,
      });
      await ledger.closeBreaker(baseUrl);
      await ledger.closeBreaker(baseUrl);

      expect(await ledger.breaker(baseUrl)).toBeNull();
    });

    it('lets exactly one of many probe, and nobody again before the time it was given is over', async () => {
      const baseUrl = `http://127.0.0.1/probe/${scenario.application}`;
      await ledger.openBreaker({ baseUrl, reason: REASON, openedAt: NOW, probeAfter: NOW + 10 });
      const claim = (now: number) => ledger.claimProbe(baseUrl, { now, until: now + 60 });

      expect(await claim(NOW + 9)).toBe(false);
      const together = await Promise.all(Array.from({ length: 8 }, () => claim(NOW + 10)));
      expect(together.filter(Boolean)).toHaveLength(1);
      expect(await claim(NOW + 69)).toBe(false);
      expect(await claim(NOW + 70)).toBe(true);
      expect(await ledger.breaker(baseUrl)).toMatchObject({ probeAfter: NOW + 10, probingUntil: NOW + 130 });
      await ledger.openBreaker({ baseUrl, reason: REASON, openedAt: NOW + 80, probeAfter: NOW + 90 });
      expect(await ledger.breaker(baseUrl)).toMatchObject({ openedAt: NOW, probeAfter: NOW + 90, probingUntil: null });
      expect(await claim(NOW + 90)).toBe(true);
      expect(await ledger.claimProbe(`${baseUrl}/other`, { now: NOW, until: NOW })).toBe(false);
    });

    it('takes a turn back from whoever has it, and from nobody else', async () => {
      const baseUrl = `http://127.0.0.1/give-back/${scenario.application}`;
      await ledger.openBreaker({ baseUrl, reason: REASON, openedAt: NOW, probeAfter: NOW });
      await ledger.claimProbe(baseUrl, { now: NOW, until: NOW + 60 });

      await ledger.giveBackProbe(baseUrl, { now: NOW + 5, until: NOW + 59 });
      const kept = await ledger.breaker(baseUrl);
      await ledger.giveBackProbe(baseUrl, { now: NOW + 5, until: NOW + 60 });
      const back = await ledger.breaker(baseUrl);
      await ledger.closeBreaker(baseUrl);
      await ledger.giveBackProbe(baseUrl, { now: NOW + 6, until: NOW + 60 });

      expect(kept).toMatchObject({ probeAfter: NOW, probingUntil: NOW + 60 });
      expect(back).toMatchObject({ openedAt: NOW, probeAfter: NOW + 5, probingUntil: null });
      expect(await ledger.breaker(baseUrl)).toBeNull();
    });

    it('has an id of its own that does not change', async () => {
      expect(ledger.id).toMatch(/^lgr_[0-9a-f]{32}$/);
    });
  });
}
