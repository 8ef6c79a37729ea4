import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import type { OpenLedger } from '../scenario.ts';
import { createScenario, NOW } from '../scenario.ts';

export function serviceUseContract(open: OpenLedger): void {
  describe('the use of the service', () => {
    let ledger: Ledger;
    beforeAll(async () => {
      ledger = await open();
    });

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

    it('takes another one when it is confirmed, and forgets the merchants of the one before', async () => {
      const scenario = createScenario(ledger);
      const { application } = scenario;
      const batch = await scenario.run([{ ref: 'one' }]);
      await ledger.rememberAccount(account(application), NOW);
      await ledger.saveMerchants(application, [{ nif: '501964843', merchantId: 'mrc_old' }]);

      await ledger.confirmAccount(account(application), NOW);
      const same = await ledger.merchantsNeeded(batch.batchId);
      await ledger.confirmAccount(account(application, { baseUrl: 'https://other.example' }), NOW);
      const changed = await ledger.merchantsNeeded(batch.batchId);

      expect(same).toEqual([]);
      expect(changed.map(({ nif }) => nif)).toEqual(['501964843']);
      expect(await ledger.rememberAccount(account(application), NOW)).toMatchObject({
        baseUrl: 'https://other.example',
      });
    });

    describe('pace', () => {
      it('hands out places one after the other, to whoever asks', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        const lease = { requests: 10, requestsPerSecond: 1 };

        const leases = await Promise.all(Array.from({ length: 5 }, () => ledger.leaseRate(baseUrl, lease)));

        const waits = leases.map(({ waitMs }) => waitMs).toSorted((a, b) => a - b);
        for (const [index, wait] of waits.entries()) {
          // Each lease of ten places at one a second is ten seconds of the row. A wait counts from when its statement began, and so holds the
          // time that it queued for the row.
          expect(Math.abs(wait - index * 10_000)).toBeLessThan(5_000);
        }
        expect(leases.map(({ gapMs }) => gapMs)).toEqual([1_000, 1_000, 1_000, 1_000, 1_000]);
      });

      const TOO_MANY = { taken: 20, share: 0.5, answers: 50 };

      it('is slowed to what the service took when it says 429, however many say so at once, and comes back', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        const lease = { requests: 1, requestsPerSecond: 100 };
        const { gapMs: before } = await ledger.leaseRate(baseUrl, lease);

        await Promise.all(
          Array.from({ length: 8 }, () => ledger.slowDown(baseUrl, { requestsPerSecond: 100, tooMany: TOO_MANY })),
        );
        const slowed = await ledger.leaseRate(baseUrl, lease);
        const later = await ledger.leaseRate(baseUrl, lease);

        expect(before).toBe(10);
        // Nine tenths of twenty a second, and a little more with each moment since.
        expect(slowed.requestsPerSecond).toBeGreaterThanOrEqual(18);
        expect(slowed.requestsPerSecond).toBeLessThan(36);
        expect(slowed.gapMs).toBeCloseTo(1_000 / (slowed.requestsPerSecond ?? 0), 6);
        expect(later.requestsPerSecond, 'it rises with time').toBeGreaterThanOrEqual(slowed.requestsPerSecond ?? 0);
      });

      it('has no limit where the profile has none, until the service says 429', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        const lease = { requests: 10, requestsPerSecond: null };

        const free = await ledger.leaseRate(baseUrl, lease);
        const notified = await ledger.slowDown(baseUrl, { requestsPerSecond: null, tooMany: TOO_MANY });
        const first = await ledger.leaseRate(baseUrl, lease);
        const second = await ledger.leaseRate(baseUrl, lease);

        expect(free).toEqual({ waitMs: 0, gapMs: 0, requestsPerSecond: null, heldMs: 0 });
        expect(notified.requestsPerSecond).toBe(18);
        expect(first.gapMs).toBeGreaterThan(1_000 / 36);
        expect(second.waitMs, 'after the places of the first').toBeGreaterThan(first.waitMs);
        expect((await ledger.currentRate(baseUrl, null)).requestsPerSecond).toBeGreaterThanOrEqual(18);
      });

      it('counts what one process saw for as many as send', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        // The second gets its share when the first has given half of its own back.
        for (const holder of ['a', 'b', 'a', 'b']) await ledger.leaseSlots(baseUrl, { holder, max: 10, ttlMs: 60_000 });
        await ledger.leaseSlots(baseUrl, { holder: 'dead', max: 10, ttlMs: -1 });

        const notified = await ledger.slowDown(baseUrl, { requestsPerSecond: null, tooMany: TOO_MANY });

        expect(notified.requestsPerSecond).toBe(36);
      });

      it('is held for everybody, for the longest time that was asked', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        expect(await ledger.currentRate(baseUrl, 5)).toEqual({ requestsPerSecond: 5, heldMs: 0 });

        await Promise.all([60_000, 600_000, 1_000].map((ms) => ledger.holdRequests(baseUrl, ms)));

        const { heldMs } = await ledger.currentRate(baseUrl, 5);
        expect(heldMs).toBeGreaterThan(500_000);
        expect(heldMs).toBeLessThanOrEqual(600_000);
        expect((await ledger.leaseRate(baseUrl, { requests: 1, requestsPerSecond: 5 })).heldMs).toBeGreaterThan(
          500_000,
        );
      });

      it('is not held by what a clock has noted that was set back since', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        await ledger.holdRequests(baseUrl, 3_600_000);
        const before = await ledger.currentRate(baseUrl, 5);

        await ledger.holdRequests(baseUrl, 5_000);

        const { heldMs } = await ledger.currentRate(baseUrl, 5);
        expect(before.heldMs).toBe(0);
        expect(heldMs).toBeGreaterThan(0);
        expect(heldMs).toBeLessThanOrEqual(5_000);
      });
    });

    describe('slots', () => {
      const lease = { max: 10, ttlMs: 60_000 };

      it('never hands out more than there are, and shares them as others give theirs back', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        const take = (holder: string): Promise<number> => ledger.leaseSlots(baseUrl, { holder, ...lease });

        expect(await take('a'), 'alone').toBe(10);
        expect(await take('b'), 'nothing is free yet').toBe(0);
        expect(await take('a'), 'half, now that there are two').toBe(5);
        expect(await take('b')).toBe(5);
        await ledger.releaseSlots(baseUrl, 'a');
        expect(await take('b')).toBe(10);
      });

      it('gives nobody what a process still uses beyond its new share', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        const take = (holder: string, held: number): Promise<number> =>
          ledger.leaseSlots(baseUrl, { holder, held, ...lease });

        expect(await take('a', 0)).toBe(10);
        expect(await take('b', 0)).toBe(0);
        expect(await take('a', 10), 'ten are on the wire').toBe(5);
        expect(await take('b', 0), 'they are there still').toBe(0);
        expect(await take('a', 7)).toBe(5);
        expect(await take('b', 0), 'three are back').toBe(3);
        expect(await take('a', 5)).toBe(5);
        expect(await take('b', 3)).toBe(5);
      });

      it('keeps to the maximum under any number of processes that ask at once', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        const held = new Map<string, number>();
        const holders = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
        for (let round = 0; round < 3; round += 1) {
          await Promise.all(
            holders.map(async (holder) => {
              const slots = await ledger.leaseSlots(baseUrl, { holder, ...lease });
              held.set(holder, slots);
            }),
          );
        }

        const all = [...held.values()].reduce((sum, slots) => sum + slots, 0);
        expect(all).toBeLessThanOrEqual(10);
        expect(all).toBeGreaterThan(0);
      });

      it('takes over the share of a process that has not renewed it', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        await ledger.leaseSlots(baseUrl, { holder: 'dead', max: 10, ttlMs: -1 });

        expect(await ledger.leaseSlots(baseUrl, { holder: 'alive', ...lease })).toBe(10);
      });
    });
  });
}
