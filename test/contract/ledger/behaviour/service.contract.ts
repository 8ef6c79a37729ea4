import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { blankCalibration, noteFound, stopCalibration } from '../../../../src/domain/calibration-state.ts';
import { createScenario, NIF, NOW, OTHER_NIF, REASON } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

/** What processes share about the service: its merchants, its account, its limits, and whether it can be reached. */
export function serviceContract(ledger: Ledger): void {
  describe('merchants', () => {
    it('are asked for by unsent invoices, with the first details that the file has', async () => {
      const texts = [
        { ref: 'm1', nif: OTHER_NIF },
        { ref: 'm2', nif: NIF, email: 'first@example.pt' },
        { ref: 'm3', nif: OTHER_NIF, legalName: 'Other' },
        { ref: 'm4', nif: NIF, legalName: 'Name', email: 'second@example.pt' },
        { ref: 'm5', nif: '1', legalName: 'Sent already' },
      ];
      const batch = await createScenario(ledger).run(texts, 10);
      await batch.freeze('m5');

      expect(await ledger.merchantsNeeded(batch.batchId)).toEqual([
        { nif: OTHER_NIF, legalName: 'Other', email: null },
        { nif: NIF, legalName: 'Name', email: 'first@example.pt' },
      ]);
    });

    it('give no id of one whose invoices were taken under another one, until it is listed as before', async () => {
      const own = createScenario(ledger);
      const batch = await own.run(['taken', 'next'], 1);
      const save = (merchantId: string | null) => ledger.saveMerchants(own.application, [{ nif: NIF, merchantId }]);
      expect(await save('mrc_1')).toEqual([]);
      await batch.accept('taken');

      for (const listed of ['mrc_2', 'mrc_2', null, 'mrc_3']) {
        expect(await save(listed)).toEqual([NIF]);
        expect((await batch.one('next')).merchantId).toBeNull();
        expect(await ledger.hasSendable(batch.batchId)).toBe(false);
      }
      expect(await save('mrc_1')).toEqual([]);
      expect((await batch.one('next')).merchantId).toBe('mrc_1');
    });

    it('must be known for what a batch has unsent, but for what has its bytes', async () => {
      const own = createScenario(ledger);
      const batch = await own.run(['can-be-sent']);
      const sendable = (batchId = batch.batchId) => ledger.hasSendable(batchId);
      const save = (nif: string) => ledger.saveMerchants(own.application, [{ nif, merchantId: `mrc_${nif}` }]);
      expect(await sendable()).toBe(false);

      await save(OTHER_NIF);
      expect(await sendable()).toBe(false);
      await save(NIF);
      expect([await sendable(), await sendable('another batch')]).toEqual([true, false]);
      await batch.hold();
      expect(await sendable()).toBe(false);

      const frozen = await createScenario(ledger).run(['has-its-bytes']);
      await frozen.freeze('has-its-bytes');
      expect(await sendable(frozen.batchId)).toBe(true);
    });

    it('are kept by application, the first of two in one list, and follow the service when an id changes', async () => {
      const [other, own] = [createScenario(ledger), createScenario(ledger)];
      const batch = await own.run(['of-a-merchant']);
      const save = ({ application }: typeof own, ids: readonly string[]) => {
        const merchants = ids.map((merchantId) => ({ nif: NIF, merchantId }));
        return ledger.saveMerchants(application, merchants);
      };

      await save(other, ['mrc_a', 'mrc_b']);
      expect(await ledger.merchantsNeeded(batch.batchId)).toHaveLength(1);
      await save(own, ['mrc_a', 'mrc_b']);
      expect((await batch.one('of-a-merchant')).merchantId).toBe('mrc_a');
      await save(own, ['mrc_c']);
      await save(own, []);

      expect((await batch.one('of-a-merchant')).merchantId).toBe('mrc_c');
    });
  });

  describe('the breaker of a base address', () => {
    it('is opened, prolonged and closed', async () => {
      const baseUrl = `http://${randomUUID()}.example`;
      expect(await ledger.breaker(baseUrl)).toBeNull();

      await ledger.openBreaker({ baseUrl, reason: REASON, openedAt: NOW, probeAfter: NOW + 10 });
      const longer = { baseUrl, reason: { code: 'outage', message: 'Still out' }, probeAfter: NOW + 20 };
      await ledger.openBreaker({ ...longer, openedAt: NOW + 5 });
      expect(await ledger.breaker(baseUrl)).toEqual({ ...longer, openedAt: NOW, probingUntil: null });
      for (const _ of ['once', 'again']) await ledger.closeBreaker(baseUrl);

      expect(await ledger.breaker(baseUrl)).toBeNull();
    });

    it('lets exactly one of many probe, and nobody again before the time it was given is over', async () => {
      const baseUrl = `http://${randomUUID()}.example`;
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

    it('takes a turn back from the one that has it, and from no other', async () => {
      const baseUrl = `http://${randomUUID()}.example`;
      await ledger.openBreaker({ baseUrl, reason: REASON, openedAt: NOW, probeAfter: NOW });
      await ledger.claimProbe(baseUrl, { now: NOW, until: NOW + 60 });
      const giveBack = (now: number, until: number) => ledger.giveBackProbe(baseUrl, { now, until });

      await giveBack(NOW + 5, NOW + 59);
      expect(await ledger.breaker(baseUrl)).toMatchObject({ probeAfter: NOW, probingUntil: NOW + 60 });
      await giveBack(NOW + 5, NOW + 60);
      expect(await ledger.breaker(baseUrl)).toMatchObject({ openedAt: NOW, probeAfter: NOW + 5, probingUntil: null });
      await ledger.closeBreaker(baseUrl);
      await giveBack(NOW + 6, NOW + 60);
      expect(await ledger.breaker(baseUrl)).toBeNull();
    });
  });

  describe('the account of an application', () => {
    const account = (application: string, over: { baseUrl?: string; keyFingerprint?: string } = {}) => {
      return { application, baseUrl: 'https://service.example', keyFingerprint: application.slice(0, 16), ...over };
    };

    it('is the first one, whichever comes later', async () => {
      const application = randomUUID();

      for (const over of [{}, { keyFingerprint: 'bbbb' }])
        expect(await ledger.rememberAccount(account(application, over), NOW)).toEqual(account(application));
    });

    it('is told where another application has this very one, and nothing is remembered then', async () => {
      const [first, second] = [randomUUID(), randomUUID()];
      const shared = { baseUrl: `https://${randomUUID()}.example`, keyFingerprint: 'aaaa' };
      const remember = (application: string, over = shared) => ledger.rememberAccount(account(application, over), NOW);
      await remember(first);

      expect(await remember(second)).toEqual(account(first, shared));
      const otherKey = { ...shared, keyFingerprint: 'bbbb' };
      expect(await remember(second, otherKey)).toEqual(account(second, otherKey));
      await ledger.confirmAccount(account(second, shared), NOW);

      for (const one of [second, first]) expect(await remember(one)).toEqual(account(one, shared));
    });

    it('is another one when that is confirmed, and the merchants are forgotten', async () => {
      const [own, other] = [createScenario(ledger), createScenario(ledger)];
      const [batch, theirs] = [await own.run(['one']), await other.run(['one'])];
      const { application } = own;
      const save = (of: string) => ledger.saveMerchants(of, [{ nif: NIF, merchantId: 'mrc_old' }]);
      await ledger.rememberAccount(account(application), NOW);
      await save(other.application);

      for (const over of [{}, { baseUrl: 'https://other.example' }]) {
        await save(application);
        await ledger.confirmAccount(account(application, over), NOW);
        expect((await batch.one('one')).merchantId).toBeNull();
        expect(await ledger.rememberAccount(account(application), NOW)).toMatchObject(over);
      }
      expect((await theirs.one('one')).merchantId, 'of another application').toBe('mrc_old');
    });
  });

  describe('the rate of requests to a base address', () => {
    const rateOf = (limit: number | null) => ledger.sharedRate(`https://${randomUUID()}.example`, limit);

    it('hands out places one after the other, to whoever asks', async () => {
      const rate = rateOf(1);

      const leases = await Promise.all(Array.from({ length: 5 }, () => rate.lease(10)));

      const waits = leases.map(({ waitMs }) => waitMs).toSorted((a, b) => a - b);
      // Each lease of ten places at one a second is ten seconds of the row. A wait counts from when its statement began, and so holds the
      // time that it queued for the row.
      for (const [index, wait] of waits.entries()) expect(Math.abs(wait - index * 10_000)).toBeLessThan(5_000);
      expect(leases.map(({ gapMs }) => gapMs)).toEqual([1_000, 1_000, 1_000, 1_000, 1_000]);
    });

    it('is slowed to what the service took when it says 429, however many say so at once, and comes back', async () => {
      const rate = rateOf(100);
      const { gapMs: before } = await rate.lease(1);

      await Promise.all(Array.from({ length: 8 }, () => rate.slowDown(20)));
      const slowed = await rate.lease(1);
      const later = await rate.lease(1);

      expect(before).toBe(10);
      // Half of twenty a second, and a little more with each moment since.
      expect(slowed.requestsPerSecond).toBeGreaterThanOrEqual(10);
      expect(slowed.requestsPerSecond).toBeLessThan(20);
      expect(slowed.gapMs).toBeCloseTo(1_000 / (slowed.requestsPerSecond ?? 0), 6);
      expect(later.requestsPerSecond, 'it rises with time').toBeGreaterThanOrEqual(slowed.requestsPerSecond ?? 0);
    });

    it('has no limit where the profile has none, until the service says 429', async () => {
      const rate = rateOf(null);

      expect(await rate.lease(10)).toEqual({ waitMs: 0, gapMs: 0, requestsPerSecond: null, heldMs: 0 });
      expect((await rate.slowDown(20)).requestsPerSecond).toBe(10);
      const [first, second] = [await rate.lease(10), await rate.lease(10)];

      expect(first.gapMs).toBeGreaterThan(1_000 / 20);
      expect(second.waitMs, 'after the places of the first').toBeGreaterThan(first.waitMs);
      expect((await rate.current()).requestsPerSecond).toBeGreaterThanOrEqual(10);
    });

    it('is held for everybody, for the longest time that was asked', async () => {
      const rate = rateOf(5);
      expect(await rate.current()).toEqual({ requestsPerSecond: 5, heldMs: 0 });

      await Promise.all([60_000, 600_000, 1_000].map((ms) => rate.hold(ms)));

      const { heldMs } = await rate.current();
      expect(heldMs).toBeGreaterThan(500_000);
      expect(heldMs).toBeLessThanOrEqual(600_000);
      expect((await rate.lease(1)).heldMs).toBeGreaterThan(500_000);
    });

    it('is not held by what a clock has noted that was set back since', async () => {
      const rate = rateOf(5);
      await rate.hold(3_600_000);
      expect((await rate.current()).heldMs).toBe(0);

      await rate.hold(5_000);

      const { heldMs } = await rate.current();
      expect(heldMs).toBeGreaterThan(0);
      expect(heldMs).toBeLessThanOrEqual(5_000);
    });
  });

  describe('the mark of a common folder', () => {
    it('is the one that was brought first, also when several bring one at once, and null before', async () => {
      const application = randomUUID();
      expect(await ledger.folderMark(application, 'reports')).toBeNull();

      const settle = (mark: string) => ledger.settleFolderMark(application, 'reports', mark);
      const [first, ...others] = await Promise.all(['a', 'b', 'c'].map(settle));

      for (const mark of [...others, await settle('d'), await ledger.folderMark(application, 'reports')])
        expect(mark).toBe(first);
    });

    it('is one for each application and role', async () => {
      const [first, second] = [randomUUID(), randomUUID()];
      await ledger.settleFolderMark(first, 'input', 'a');
      await ledger.settleFolderMark(second, 'input', 'b');
      await ledger.settleFolderMark(first, 'files', 'c');

      const marks = [first, second].map(async (application) => [
        await ledger.folderMark(application, 'input'),
        await ledger.folderMark(application, 'files'),
      ]);
      expect(await Promise.all(marks)).toEqual([
        ['a', 'c'],
        ['b', null],
      ]);
    });
  });

  describe('what is known of a service profile', () => {
    it('is nothing at first, and of one profile alone', async () => {
      const [digest, other] = [randomUUID(), randomUUID()];
      expect(await ledger.calibration(digest)).toEqual(blankCalibration());

      await ledger.calibrate(digest, (draft) => stopCalibration(draft, { code: 'code', message: 'Wrong.' }, NOW));

      expect(await ledger.calibration(digest)).toMatchObject({ stop: { code: 'code' }, found: [{ code: 'code' }] });
      expect(await ledger.calibration(other)).toEqual(blankCalibration());
    });

    it('loses no change of many that are made at the same time', async () => {
      const digest = randomUUID();
      const codes = Array.from({ length: 8 }, (_, at) => `code-${at}`);

      await Promise.all(
        codes.map((code) => ledger.calibrate(digest, (draft) => noteFound(draft, { code, message: code }, NOW))),
      );

      const { found } = await ledger.calibration(digest);
      expect(found.map(({ code }) => code).toSorted()).toEqual(codes);
    });

    it('has what became of the invoices that are out', async () => {
      const { batchId } = await createScenario(ledger).run(['A', 'B']);

      const places = [1, 2, 9].map((ordinal) => ({ batchId, ordinal }));
      expect(await ledger.calibrationInvoices(places)).toMatchObject(
        [1, 2].map((ordinal) => ({ ordinal, state: 'staged', attempts: 0, serviceId: null, failedEvent: null })),
      );
      expect(await ledger.calibrationInvoices([])).toEqual([]);
    });
  });
}
