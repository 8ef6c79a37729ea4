import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createScenario, NOW } from '../scenario.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

export function serviceUseContract(ledger: Ledger): void {
  describe('the use of the service', () => {
    function account(application: string, over: { baseUrl?: string; keyFingerprint?: string } = {}) {
      return { application, baseUrl: 'https://service.example', keyFingerprint: application.slice(0, 16), ...over };
    }

    it('remembers the first account of an application, whoever comes later', async () => {
      const application = randomUUID();

      const first = await ledger.rememberAccount(account(application), NOW);
      const other = await ledger.rememberAccount(account(application, { keyFingerprint: 'bbbb' }), NOW);

      expect(first).toEqual(account(application));
      expect(other).toEqual(account(application));
    });

    it('tells that another application has this very account, and remembers nothing then', async () => {
      const [first, second] = [randomUUID(), randomUUID()];
      const shared = { baseUrl: `https://${randomUUID()}.example`, keyFingerprint: 'aaaa' };
      await ledger.rememberAccount(account(first, shared), NOW);

      const refused = await ledger.rememberAccount(account(second, shared), NOW);
      const otherKey = await ledger.rememberAccount(account(second, { ...shared, keyFingerprint: 'bbbb' }), NOW);
      await ledger.confirmAccount(account(second, shared), NOW);

      expect(refused).toEqual(account(first, shared));
      expect(otherKey).toEqual(account(second, { ...shared, keyFingerprint: 'bbbb' }));
      expect(await ledger.rememberAccount(account(second, shared), NOW)).toEqual(account(second, shared));
      expect(await ledger.rememberAccount(account(first, shared), NOW)).toEqual(account(first, shared));
    });

    it('takes another one when it is confirmed, and forgets the merchants', async () => {
      const scenario = createScenario(ledger);
      const { application } = scenario;
      const batch = await scenario.run(['one']);
      const other = createScenario(ledger);
      const theirs = await other.run(['one']);
      await ledger.rememberAccount(account(application), NOW);
      for (const of of [application, other.application])
        await ledger.saveMerchants(of, [{ nif: '501964843', merchantId: 'mrc_old' }]);

      await ledger.confirmAccount(account(application), NOW);
      const same = (await batch.sendable())[0]?.merchantId;
      await ledger.saveMerchants(application, [{ nif: '501964843', merchantId: 'mrc_old' }]);
      await ledger.confirmAccount(account(application, { baseUrl: 'https://other.example' }), NOW);
      const changed = (await batch.sendable())[0]?.merchantId;

      expect([same, changed]).toEqual([null, null]);
      expect((await theirs.sendable())[0]?.merchantId, 'of another application').toBe('mrc_old');
      expect(await ledger.rememberAccount(account(application), NOW)).toMatchObject({
        baseUrl: 'https://other.example',
      });
    });

    describe('the rate', () => {
      const rateOf = (limit: number | null) => ledger.sharedRate(`https://${randomUUID()}.example`, limit);

      it('hands out places one after the other, to whoever asks', async () => {
        const rate = rateOf(1);

        const leases = await Promise.all(Array.from({ length: 5 }, () => rate.lease(10)));

        const waits = leases.map(({ waitMs }) => waitMs).toSorted((a, b) => a - b);
        for (const [index, wait] of waits.entries()) {
          // Each lease of ten places at one a second is ten seconds of the row. A wait counts from when its statement began, and so holds the
          // time that it queued for the row.
          expect(Math.abs(wait - index * 10_000)).toBeLessThan(5_000);
        }
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

        const free = await rate.lease(10);
        const notified = await rate.slowDown(20);
        const first = await rate.lease(10);
        const second = await rate.lease(10);

        expect(free).toEqual({ waitMs: 0, gapMs: 0, requestsPerSecond: null, heldMs: 0 });
        expect(notified.requestsPerSecond).toBe(10);
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
        const before = await rate.current();

        await rate.hold(5_000);

        const { heldMs } = await rate.current();
        expect(before.heldMs).toBe(0);
        expect(heldMs).toBeGreaterThan(0);
        expect(heldMs).toBeLessThanOrEqual(5_000);
      });
    });
  });
}

export function sharedFoldersContract(ledger: Ledger): void {
  describe('the mark of a common folder', () => {
    it('is null before the first one', async () => {
      expect(await ledger.folderMark(randomUUID(), 'input')).toBeNull();
    });

    it('is the one that was brought first, also when several bring one at once', async () => {
      const application = randomUUID();

      const settled = await Promise.all(
        ['a', 'b', 'c'].map((mark) => ledger.settleFolderMark(application, 'reports', mark)),
      );

      expect(new Set(settled).size).toBe(1);
      expect(await ledger.folderMark(application, 'reports')).toBe(settled[0]);
      expect(await ledger.settleFolderMark(application, 'reports', 'd')).toBe(settled[0]);
    });

    it('is one for each application and role', async () => {
      const [first, second] = [randomUUID(), randomUUID()];
      await ledger.settleFolderMark(first, 'input', 'a');
      await ledger.settleFolderMark(second, 'input', 'b');
      await ledger.settleFolderMark(first, 'files', 'c');

      expect(await ledger.folderMark(first, 'input')).toBe('a');
      expect(await ledger.folderMark(second, 'input')).toBe('b');
      expect(await ledger.folderMark(first, 'files')).toBe('c');
      expect(await ledger.folderMark(second, 'files')).toBeNull();
    });
  });
}
