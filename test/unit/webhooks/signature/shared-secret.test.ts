import { describe, expect, it } from 'vitest';
import { checked, type Checked } from './check-of.ts';

const SECRETS = ['new-secret', 'old:secret é'];

function basic(pair: string): readonly [string, string] {
  return ['authorization', `Basic ${Buffer.from(pair).toString('base64')}`];
}

/** What stands before the body decides alone. */
function why(given: Omit<Checked, 'secrets'>, secrets: readonly string[] = SECRETS): string | null {
  const { head, whole } = checked({ ...given, secrets });
  expect(head).toEqual(whole);
  return head.why;
}

describe('a token', () => {
  const shape = { kind: 'token', header: 'X-Token', prefix: 'Bearer ' } as const;

  it.each(['new-secret', Buffer.from('old:secret é').toString('latin1')])('that is a secret holds: %s', (token) => {
    expect(why({ shape, lines: [`Bearer ${token}`] })).toBeNull();
  });

  it.each([
    ['that is none', ['Bearer new-secreT'], 'signature-wrong'],
    ['that begins like one', ['Bearer new-secret2'], 'signature-wrong'],
    ['without its prefix', ['new-secret'], 'signature-malformed'],
    ['that is the prefix alone', ['Bearer '], 'signature-malformed'],
    ['that is absent', [], 'signature-missing'],
    ['that came twice', ['Bearer new-secret', 'Bearer new-secret'], 'signature-repeated'],
    ['of 10 KB', [`Bearer ${'x'.repeat(10_240)}`], 'signature-malformed'],
  ])('%s is refused', (_name, lines, reason) => {
    expect(why({ shape, lines })).toBe(reason);
  });

  it('cannot be checked without a secret, nor with an empty one', () => {
    expect(why({ shape: { ...shape, prefix: '' }, lines: [''] }, [''])).toBe('no-secret');
  });
});

describe('basic authentication', () => {
  const shape = { kind: 'basic' } as const;

  it.each(['lote:new-secret', ':new-secret', 'anybody:old:secret é'])('with a secret as password holds: %s', (pair) => {
    expect(why({ shape, headers: [basic(pair)] })).toBeNull();
  });

  it('is known by its scheme in any letters', () => {
    const [name, value] = basic('a:new-secret');

    expect(why({ shape, headers: [[name, value.replace('Basic', 'bASIC')]] })).toBeNull();
  });

  it.each([
    ['another password', [basic('lote:x')], 'signature-wrong'],
    ['the secret as user name', [basic('new-secret:')], 'signature-wrong'],
    ['no colon', [basic('new-secret')], 'signature-malformed'],
    ['another scheme', [['authorization', 'Bearer new-secret']], 'signature-malformed'],
    ['no header', [], 'signature-missing'],
    ['two headers', [basic('a:new-secret'), basic('a:new-secret')], 'signature-repeated'],
  ] as const)('with %s is refused', (_name, headers, reason) => {
    expect(why({ shape, headers })).toBe(reason);
  });
});

describe('a secret address', () => {
  const shape = { kind: 'path' } as const;

  it('that ends with a secret holds', () => {
    expect(SECRETS.map((pathSecret) => why({ shape, pathSecret }))).toEqual([null, null]);
  });

  it.each([
    ['ends with something else', { pathSecret: 'x' }, 'signature-wrong'],
    ['ends with nothing', { pathSecret: '' }, 'signature-missing'],
    ['has no such step', {}, 'signature-missing'],
  ])('that %s is refused', (_name, given, reason) => {
    expect(why({ shape, ...given })).toBe(reason);
  });
});
