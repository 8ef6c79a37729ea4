import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../src/domain/ports/ledger.ts';
import type { OpenLedger } from './scenario.ts';
import { createScenario, NOW } from './scenario.ts';

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

      const first = await ledger.knownAccount(account(application), NOW);
      const other = await ledger.knownAccount(account(application, { keyFingerprint: 'bbbb' }), NOW);

      expect(first).toEqual(account(application));
      expect(other).toEqual(account(application));
    });

    it('tells that another application has this very account, and remembers nothing then', async () => {
      const [first, second] = [randomUUID(), randomUUID()];
      const shared = { baseUrl: `https://${randomUUID()}.example`, keyFingerprint: 'aaaa' };
      await ledger.knownAccount(account(first, shared), NOW);

      const refused = await ledger.knownAccount(account(second, shared), NOW);
      const otherKey = await ledger.knownAccount(account(second, { ...shared, keyFingerprint: 'bbbb' }), NOW);
      await ledger.confirmAccount(account(second, shared), NOW);

      expect(refused).toEqual(account(first, shared));
      expect(otherKey).toEqual(account(second, { ...shared, keyFingerprint: 'bbbb' }));
      expect(await ledger.knownAccount(account(second, shared), NOW)).toEqual(account(second, shared));
      expect(await ledger.knownAccount(account(first, shared), NOW)).toEqual(account(first, shared));
    });

    it('takes another one when it is confirmed, and forgets the merchants of the one before', async () => {
      const scenario = createScenario(ledger);
      const { application } = scenario;
      const batch = await scenario.run([{ ref: 'one' }]);
      await ledger.knownAccount(account(application), NOW);
      await ledger.saveMerchants(application, [{ nif: '501964843', merchantId: 'mrc_old' }]);

      await ledger.confirmAccount(account(application), NOW);
      const same = await ledger.merchantsNeeded(batch.batchId);
      await ledger.confirmAccount(account(application, { baseUrl: 'https://other.example' }), NOW);
      const changed = await ledger.merchantsNeeded(batch.batchId);

      expect(same).toEqual([]);
      expect(changed.map(({ nif }) => nif)).toEqual(['501964843']);
      expect(await ledger.knownAccount(account(application), NOW)).toMatchObject({ baseUrl: 'https://other.example' });
    });

    describe('pace', () => {
      it('hands out places one after the other, to whoever asks', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        const lease = { requests: 10, requestsPerSecond: 1 };

        const leases = await Promise.all(Array.from({ length: 5 }, () => ledger.leasePace(baseUrl, lease)));

        const waits = leases.map(({ waitMs }) => waitMs).toSorted((a, b) => a - b);
        for (const [index, wait] of waits.entries()) {
          // Each lease of ten places at one a second is ten seconds of the row. A wait counts from when its statement began, and so holds the
          // time that it queued for the row.
          expect(Math.abs(wait - index * 10_000)).toBeLessThan(5_000);
        }
        expect(leases.map(({ gapMs }) => gapMs)).toEqual([1_000, 1_000, 1_000, 1_000, 1_000]);
      });

      it('is halved when the service says 429, however many say so at once, and comes back', async () => {
        const baseUrl = `https://${randomUUID()}.example`;
        const lease = { requests: 1, requestsPerSecond: 10 };
        const { gapMs: before } = await ledger.leasePace(baseUrl, lease);

        await Promise.all(Array.from({ length: 8 }, () => ledger.slowDown(baseUrl)));
        const { gapMs: slowed } = await ledger.leasePace(baseUrl, lease);
        const { gapMs: later } = await ledger.leasePace(baseUrl, lease);

        expect(before).toBe(100);
        expect(slowed).toBeGreaterThan(100);
        expect(slowed).toBeLessThanOrEqual(200);
        expect(later, 'it rises with time').toBeLessThanOrEqual(slowed);
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
