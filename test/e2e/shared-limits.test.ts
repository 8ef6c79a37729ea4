import { describe, expect, inject, it } from 'vitest';
import { testFleet } from '../support/lote/fleet.ts';

/** Each has slices of its own at either worker: of one file alone, one worker may be given all slices. */
const FILES = 4;
const INVOICES_EACH = 60;
const INVOICES = FILES * INVOICES_EACH;
const RATE = 25;
const CONCURRENCY = 6;
/** What a busy machine may hold back in one place and let go in the next: a second's worth. */
const HELD_BACK = RATE;

describe.skipIf(inject('postgresUrl') === null)('two workers of one ledger', () => {
  it('keep to one rate together, and each to its number of requests at a time', async () => {
    const fleet = await testFleet({
      ...{ roles: ['worker', 'worker', 'receiver'], sandbox: { latencyMs: 100 } },
      profile: { limits: { requestsPerSecond: RATE, maxConcurrency: CONCURRENCY } },
      // Pages small enough that both have some to send.
      env: { LOTE_PAGE_SIZE: '20' },
    });
    const files = await Promise.all(
      Array.from({ length: FILES }, (_, at) =>
        fleet.file(`paced-${at}.csv`, { invoices: INVOICES_EACH, series: `S${at}` }),
      ),
    );

    const { code, stderr } = await fleet.run('run', ...files, '--json');

    expect(code, stderr).toBe(0);
    fleet.expectIssued(INVOICES);
    expectRate(fleet.front.requests.map(({ at }) => at));
    expect(fleet.front.mostAtOnce).toBeLessThanOrEqual(2 * CONCURRENCY);
  });

  /** Of all stretches, however long: never more than the rate allows, but for what was held back before it. */
  function expectRate(times: readonly number[]): void {
    for (const [first, from] of times.entries()) {
      for (let last = first; last < times.length; last += 1) {
        const seconds = ((times[last] ?? from) - from) / 1_000;
        const requests = last - first + 1;
        if (requests > RATE * seconds + 1 + HELD_BACK)
          expect.fail(`${requests} requests in ${seconds} s, at ${RATE} a second`);
      }
    }
  }
});
