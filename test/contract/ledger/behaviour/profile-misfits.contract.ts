import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import type { OpenLedger } from '../scenario.ts';

const AT = 1_700_000_000_000;
const DAY = 86_400_000;

export function profileMisfitsContract(open: OpenLedger): void {
  describe('what does not fit the service profile', () => {
    let ledger: Ledger;
    beforeAll(async () => {
      ledger = await open();
    });

    it('is one row for each code: the last message, all times, the first and the last moment', async () => {
      const digest = randomUUID();
      await ledger.noteMisfits(digest, [
        { code: 'deliveries-refused', message: '2 of 2 refused', times: 2, at: AT },
        { code: 'events-unknown', message: 'type "x"', times: 1, at: AT + 5 },
        { code: 'deliveries-refused', message: '3 of 3 refused', times: 1, at: AT + 1 },
      ]);
      await ledger.noteMisfits(digest, [
        { code: 'deliveries-refused', message: '7 of 7 "refused"', times: 4, at: AT + 9 },
      ]);

      expect(await ledger.misfits(digest)).toEqual([
        { code: 'deliveries-refused', message: '7 of 7 "refused"', times: 7, firstAt: AT + 1, lastAt: AT + 9 },
        { code: 'events-unknown', message: 'type "x"', times: 1, firstAt: AT + 5, lastAt: AT + 5 },
      ]);
    });

    it('is gone once it fits, and is not that of another profile', async () => {
      const [mine, other] = [randomUUID(), randomUUID()];
      const item = { code: 'events-unknown', message: 'type "x"', times: 1, at: AT };
      await ledger.noteMisfits(mine, [item, { ...item, code: 'deliveries-refused' }]);
      await ledger.noteMisfits(other, [item]);
      await ledger.clearMisfit(mine, 'events-unknown');

      expect((await ledger.misfits(mine)).map(({ code }) => code)).toEqual(['deliveries-refused']);
      expect(await ledger.misfits(other)).toHaveLength(1);
    });

    it('has at most 16 codes, each message in one line of 400 characters, and forgets what was not seen for 30 days', async () => {
      const [digest, old] = [randomUUID(), randomUUID()];
      const item = (code: string) => ({ code, message: `a\n\u202Eb${'c'.repeat(1_000)}`, times: 1, at: AT + 50 * DAY });
      await ledger.noteMisfits(old, [{ ...item('events-unknown'), at: AT }]);
      await ledger.noteMisfits(
        digest,
        Array.from({ length: 40 }, (_, at) => item(`code-${at}`)),
      );
      await ledger.noteMisfits(digest, [item('code-1'), item('one-more')]);

      const found = await ledger.misfits(digest);
      expect(found).toHaveLength(16);
      expect(found.find(({ code }) => code === 'code-1')?.times).toBe(2);
      expect(found.every(({ message }) => message.length === 400 && message.startsWith('a bc'))).toBe(true);
      expect(await ledger.misfits(old)).toEqual([]);
    });

    it('is counted when several processes note it at once', async () => {
      const digest = randomUUID();
      await Promise.all(
        Array.from({ length: 8 }, (_, at) =>
          ledger.noteMisfits(digest, [
            { code: 'b', message: 'b', times: 1, at: AT + at },
            { code: 'a', message: 'a', times: 1, at: AT + at },
          ]),
        ),
      );

      expect((await ledger.misfits(digest)).map(({ code, times }) => [code, times])).toEqual([
        ['a', 8],
        ['b', 8],
      ]);
    });
  });
}
