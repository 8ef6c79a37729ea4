import { describe, expect, it } from 'vitest';
import { DEFAULT_PROFILE } from '../../../../src/service-profile/default-profile.ts';
import { logMisfits } from '../../../../src/wiring/profile-fit/misfit-log.ts';
import { until } from '../../../support/until.ts';

const MINUTE = 60_000;

describe('the log of a service profile that does not fit', () => {
  it('has a line at once, then one a minute for as long as it is seen', async () => {
    let [now, lastAt, looks] = [10 * MINUTE, 10 * MINUTE, 0];
    const lines: unknown[] = [];
    const ledger = {
      breaker: () => Promise.resolve(null),
      misfits() {
        looks += 1;
        return Promise.resolve([{ code: 'deliveries-refused', message: 'what fits', times: 12, firstAt: 1, lastAt }]);
      },
    };
    const watch = logMisfits({
      ...{
        config: { application: 'a', service: { kind: 'sandbox' }, serviceBaseUrl: null },
        profile: DEFAULT_PROFILE,
        ledger,
      },
      ...{ service: { baseUrl: 'http://s' }, lookMs: 1, now: () => now },
      log: { warn: (message, fields) => lines.push([message, fields]) },
    });
    const look = async (): Promise<void> => {
      const before = looks;
      await until(async () => looks > before + 2);
    };

    await look();
    expect(lines).toEqual([
      ['the service profile does not fit the service', { code: 'deliveries-refused', detail: 'what fits', times: 12 }],
    ]);
    now += MINUTE;
    await look();
    expect(lines).toHaveLength(2);
    now += 20 * MINUTE;
    await look();
    expect(lines, 'not seen for twenty minutes').toHaveLength(2);
    lastAt = now;
    await look();
    expect(lines).toHaveLength(3);
    await watch.stop();
  });
});
