import { describe, expect, it } from 'vitest';
import { LoteError } from '../../../../src/domain/errors.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/default-profile.ts';
import { loadProfile } from '../../../../src/service/profile/load-profile.ts';

function failure(text: string): LoteError {
  try {
    loadProfile(text);
  } catch (error) {
    if (error instanceof LoteError) return error;
    throw error;
  }
  throw new Error('the profile was accepted');
}

describe('loadProfile', () => {
  it.each([undefined, '', ' \n', '{}'])('gives the default for %j', (text) => {
    expect(loadProfile(text)).toEqual(DEFAULT_PROFILE);
  });

  it('merges deeply and keeps what the file leaves out', () => {
    const profile = loadProfile('{"signature":{"prefix":"sha256="},"limits":{"requestsPerSecond":20}}');

    expect(profile.signature).toEqual({ ...DEFAULT_PROFILE.signature, prefix: 'sha256=' });
    expect(profile.limits).toEqual({ requestsPerSecond: 20, maxConcurrency: 64, pollEverySeconds: null });
  });

  it('replaces lists instead of joining them', () => {
    expect(loadProfile('{"invoice":{"issued":["DONE"]}}').invoice.issued).toEqual(['DONE']);
  });

  it('allows an empty list of mismatch codes', () => {
    expect(loadProfile('{"idempotency":{"mismatchCodes":[]}}').idempotency.mismatchCodes).toEqual([]);
  });

  it('leaves the default untouched', () => {
    const before = structuredClone(DEFAULT_PROFILE);

    loadProfile('{"invoice":{"id":"/data/id"}}');

    expect(DEFAULT_PROFILE).toEqual(before);
  });

  it.each([
    ['{"limits":{"requestsPerSecond":-1}}', 'limits.requestsPerSecond'],
    ['{"signature":{"algorithm":"md5"}}', 'signature.algorithm'],
    ['{"signature":{"header":"X Y"}}', 'signature.header'],
    ['{"event":{"type":"type"}}', 'event.type'],
    ['{"invoice":{"issued":["ok",7]}}', 'invoice.issued.1'],
    ['{"idempotency":{"retentionHours":0}}', 'idempotency.retentionHours'],
    ['[]', 'top level'],
    ['7', 'top level'],
    ['{"a":', 'syntax error'],
  ])('refuses %s and names the place', (text, place) => {
    const error = failure(text);

    expect(error.code).toBe('configuration-invalid');
    expect(error.message).toContain(place);
    expect(error.message).toContain('SERVICE_PROFILE');
  });

  it('puts each of several mistakes on a line of its own', () => {
    const { message } = failure('{"limits":{"maxConcurrency":0},"event":{"type":"x"}}');

    expect(message.split('\n').map((line) => line.split(':')[0])).toEqual([
      'Reading the service profile',
      '  limits.maxConcurrency (line 1, column 29)',
      '  event.type (line 1, column 48)',
      'Correct the file named by SERVICE_PROFILE; what it leaves out keeps its default.',
    ]);
  });

  it('stays readable with very many mistakes', () => {
    const keys = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, at]));
    const { message } = failure(JSON.stringify(keys));

    expect(message).toContain('500 mistakes');
    expect(message).toContain('… and 480 more: `lote profile check` shows them all.');
    expect(message.split('\n').length).toBeLessThan(30);
  });
});
