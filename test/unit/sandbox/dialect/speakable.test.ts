import { describe, expect, it } from 'vitest';
import { profileDialect } from '../../../../src/sandbox/dialect/profile-dialect.ts';
import { withOwnPlaces } from '../../../../src/sandbox/dialect/with-own-places.ts';
import { PROFILES } from '../../../support/any-service/profiles.ts';

/** Of all families and examples: those that the sandbox can speak with a place of its own alone, and the keys that need one. */
const EXPRESSIONS: Readonly<Record<string, readonly string[]>> = {
  'stripe-like': ['merchants.nextCursor'],
  'shopify-like': ['error.code', 'error.message', 'merchants.nif'],
  'google-like': ['invoice.id'],
  'location-like': ['error.code'],
  'laravel-like': ['error.code'],
  'polling-like': ['merchants.nif', 'merchants.more'],
  '1. Objects with lists that go on after the last id (Stripe)': ['merchants.nextCursor'],
  '4. Wrapped bodies and errors by field (Shopify)': ['error.code', 'error.message'],
};

describe('the sandbox', () => {
  it.each(PROFILES)('speaks $name, or names the keys that hold expressions alone', ({ name, profile }) => {
    const keys = EXPRESSIONS[name] ?? [];
    const speak = (): unknown => profileDialect(JSON.stringify(profile));

    if (keys.length === 0) expect(speak).not.toThrow();
    for (const key of keys) {
      const place = `/sandbox_${key.replaceAll('.', '_')}`;
      expect(speak).toThrow(`${key} is the expression "jsonata:`);
      expect(speak).toThrow(`Put a place for the sandbox before it, such as ["${place}", "jsonata:`);
    }
    expect(withOwnPlaces(profile).keys).toEqual(keys);
  });
});
