import { describe, expect, it } from 'vitest';
import { createPace } from '../../../src/service/pace.ts';

describe('createPace', () => {
  it('never waits without a limit', () => {
    const pace = createPace(null);

    expect([pace.reserve(0), pace.reserve(0), pace.reserve(0)]).toEqual([0, 0, 0]);
  });

  it('spreads requests that come at once evenly', () => {
    const pace = createPace(4);

    expect([pace.reserve(1_000), pace.reserve(1_000), pace.reserve(1_000)]).toEqual([0, 250, 500]);
  });

  it('saves nothing up for a burst while nobody asks', () => {
    const pace = createPace(10);
    pace.reserve(0);

    expect([pace.reserve(60_000), pace.reserve(60_000)]).toEqual([0, 100]);
  });

  it('takes rates below one per second', () => {
    const pace = createPace(0.5);

    expect([pace.reserve(0), pace.reserve(500)]).toEqual([0, 1_500]);
  });
});
