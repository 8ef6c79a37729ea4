import { describe, expect, it } from 'vitest';
import { sendingWidth } from '../../../../src/service/limits/sending-width.ts';

const SLICE = { sliceSize: 2_000, sliceMs: 60_000 };

describe('sendingWidth', () => {
  it.each([
    ['without a limit', null],
    ['when two slices can be sent in their time', 75],
  ])('leaves everything to the workflow %s', (_name, requestsPerSecond) => {
    expect(sendingWidth(requestsPerSecond, SLICE)).toEqual({ sliceSize: 2_000 });
  });

  it('gives a slow service two slices of what both can send in nine tenths of their time', () => {
    expect(sendingWidth(20, SLICE)).toEqual({ sliceSize: 540, pagesSending: 2, slicesAtOnce: 1 });
  });

  it('makes no slice of a few invoices, and none larger than a page', () => {
    expect(sendingWidth(0.1, SLICE)).toMatchObject({ sliceSize: 20 });
    expect(sendingWidth(0.1, { ...SLICE, sliceSize: 7 })).toMatchObject({ sliceSize: 7 });
  });
});
