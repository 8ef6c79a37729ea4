import { expect, it } from 'vitest';
import { createKeyDelays } from '../../../../activities/sending/key-delays.ts';

const REASON = { code: 'busy', message: 'HTTP 409' };

it('lets a key wait until the time that was named, by the last word', () => {
  const delays = createKeyDelays();
  delays.note('key', { until: 50, reason: { ...REASON, code: 'first' } }, 10);
  delays.note('key', { until: 40, reason: REASON }, 20);

  expect(delays.reasonToWait('another', 30)).toBeNull();
  expect(delays.reasonToWait('key', 39)).toEqual(REASON);
  expect(delays.reasonToWait('key', 40)).toBeNull();
});

it('forgets those whose time has come when many wait, and no other', () => {
  const delays = createKeyDelays();
  for (let key = 0; key < 10_000; key += 1) delays.note(`k${key}`, { until: key === 7 ? 500 : 50, reason: REASON }, 10);

  delays.note('one more', { until: 500, reason: REASON }, 100);

  expect(delays.reasonToWait('k8', 10)).toBeNull();
  expect(delays.reasonToWait('k7', 100)).toEqual(REASON);
  expect(delays.reasonToWait('one more', 100)).toEqual(REASON);
});
