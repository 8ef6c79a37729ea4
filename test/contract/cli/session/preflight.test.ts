import { describe, expect, it } from 'vitest';
import { preflight } from '../../../../src/cli/session/preflight.ts';
import { LIST, serviceOf, unreadable } from '../../../unit/cli/session/service-of.ts';

describe('a service that cannot be reached', () => {
  it('is asked again within that minute, and may come back', async () => {
    const { service, asked } = serviceOf(unreadable('service-unreachable'), LIST);

    await preflight(service, () => 0);

    expect(asked()).toBe(2);
  });
});
