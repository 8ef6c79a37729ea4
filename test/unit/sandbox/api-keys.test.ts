import { describe, expect, it } from 'vitest';
import { apiKeys, applicationIdOf } from '../../../src/sandbox/api-keys.ts';

describe('apiKeys', () => {
  const closed = apiKeys({ keys: ['sk_test_one', 'sk_test_two'], open: false });
  const open = apiKeys({ keys: ['sk_test_one'], open: true });

  it('gives each listed key an application of its own', () => {
    expect(closed('Bearer sk_test_one')).toBe(applicationIdOf('sk_test_one'));
    expect(closed('Bearer sk_test_two')).toBe(applicationIdOf('sk_test_two'));
    expect(closed('Bearer sk_test_one')).not.toBe(closed('Bearer sk_test_two'));
  });

  it('takes the scheme in any case, as HTTP does', () => {
    expect(closed('bearer sk_test_one')).toBe(applicationIdOf('sk_test_one'));
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'sk_test_one',
    'Bearer sk_test_one x',
    'Bearer SK_TEST_ONE',
    'Bearer sk_test_',
  ])('refuses %j', (authorization) => {
    expect(closed(authorization)).toBeNull();
  });

  it('takes a key that is not listed only when open, and only of the right form', () => {
    expect(closed('Bearer sk_test_three')).toBeNull();
    expect(open('Bearer sk_test_three')).toBe(applicationIdOf('sk_test_three'));
    expect(open('Bearer sk_live_three')).toBeNull();
    expect(open(`Bearer sk_test_${'x'.repeat(129)}`)).toBeNull();
  });

  it('does not show the key in the name of the application', () => {
    expect(applicationIdOf('sk_test_one')).toMatch(/^app_[0-9a-f]{16}$/);
  });

  it.each(['', 'sk_test_', 'sk_live_1', 'sk_test_a b'])('refuses %j in the list without repeating it', (key) => {
    expect(() => apiKeys({ keys: [key], open: false })).toThrow('every API key must be `sk_test_`');
  });
});
