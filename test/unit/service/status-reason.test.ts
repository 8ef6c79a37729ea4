import { describe, expect, it } from 'vitest';
import { statusReason } from '../../../src/service/status-reason.ts';

describe('statusReason', () => {
  it("uses the service's own words", () => {
    expect(statusReason(422, { code: 'tax_code_unknown', message: 'IVA_99?' })).toEqual({
      code: 'tax-code-unknown',
      message: 'HTTP 422: IVA_99?',
    });
  });

  it.each([
    [undefined, undefined],
    [7, {}],
    ['two words', ' \n '],
  ])('falls back to the status for %j and %j', (code, message) => {
    expect(statusReason(503, { code, message })).toEqual({ code: 'http-503', message: 'HTTP 503' });
  });

  it('stays within 200 characters', () => {
    expect(statusReason(400, { code: null, message: 'x'.repeat(5_000) }).message).toHaveLength(200);
  });
});
