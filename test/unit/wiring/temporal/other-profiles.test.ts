import { describe, expect, it, onTestFinished } from 'vitest';
import { watchOtherProfiles } from '../../../../src/wiring/temporal/other-profiles.ts';
import type { QueuePoller } from '../../../../src/wiring/temporal/queue-pollers.ts';
import { until } from '../../../support/until.ts';

const OWN = 'aaaa';

function poller(profile: string, lastPolledAt: number): QueuePoller {
  return { scope: 'mine', identity: `profile=${profile}`, lastPolledAt, patches: null, profile };
}

/** A watch of a queue whose workers poll as a test says. */
function watch(own: string | null, poll: (look: number) => readonly QueuePoller[]) {
  const seen = { looks: 1, warned: [] as unknown[] };
  const watching = watchOtherProfiles({
    first: poll(1),
    async pollers() {
      seen.looks += 1;
      return poll(seen.looks);
    },
    own,
    everyMs: 1,
    log: { warn: (_, fields) => void seen.warned.push(fields) },
  });
  onTestFinished(() => watching.stop());
  return { seen, watching };
}

describe('a worker that starts beside workers of another service profile', () => {
  it('warns once of those that poll again', async () => {
    const { seen, watching } = watch(OWN, (look) => [poller('bbbb', look), poller(OWN, look)]);
    await until(() => seen.warned.length > 0);
    await watching.stop();

    expect(seen.warned).toEqual([{ workers: ['profile=bbbb'] }]);
  });

  it('does not warn of one that was killed and stays listed', async () => {
    const { seen, watching } = watch(OWN, () => [poller('bbbb', 1)]);
    await until(() => seen.looks > 20);
    await watching.stop();

    expect(seen.warned).toEqual([]);
  });

  it.each([
    ['it has no mark of its own', null, 'bbbb'],
    ['all have the same', OWN, OWN],
  ])('looks once and no more when %s', async (_, own, profile) => {
    const { seen, watching } = watch(own, (look) => [poller(profile, look)]);
    await watching.stop();

    expect(seen.warned).toEqual([]);
    expect(seen.looks).toBeLessThanOrEqual(1);
  });
});
