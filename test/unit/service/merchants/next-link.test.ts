import { describe, expect, it } from 'vitest';
import { findNextLink, resolveNextLink } from '../../../../src/service/merchants/next-link.ts';

const PLACES = ['/links/next', 'header:Link'];

describe('findNextLink', () => {
  it.each<[string, Parameters<typeof findNextLink>[0], unknown]>([
    ['an address in the body', { body: { links: { next: '/b' } } }, { address: '/b' }],
    ['a Link header', { body: {}, headers: { link: '</b>; rel=next' } }, { address: '/b' }],
    ['several Link headers', { body: {}, headers: { link: ['</a>; rel=prev', '</b>; rel=next'] } }, { address: '/b' }],
    ['the same next page twice', { body: {}, headers: { link: '</b>; rel=next, </b>; rel=next' } }, { address: '/b' }],
    ['null in the body', { body: { links: { next: null } } }, { address: null }],
    ['a Link header of other pages', { body: {}, headers: { link: '</a>; rel=prev' } }, { address: null }],
    ['no link at all', { body: [] }, { address: null }],
  ])('reads %s', (_, document, found) => {
    expect(findNextLink(document, PLACES)).toEqual(found);
  });

  it('looks at the places behind a Link header that names no next page', () => {
    const document = { body: { next: '/b' }, headers: { link: '</a>; rel=prev' } };
    expect(findNextLink(document, ['header:Link', '/next'])).toEqual({ address: '/b' });
  });

  it.each([
    ['x-header:link', undefined],
    ['header: LINK ', '/b'],
    ['header:linked', '</b>; rel=next'],
    ['header:x-link', '</b>; rel=next'],
  ])('reads %s as a Link header only if it is one', (place, address) => {
    const value = '</b>; rel=next';
    const headers = { link: value, linked: value, 'x-link': value };

    expect(findNextLink({ body: {}, headers }, place)).toEqual({ address: address ?? null });
  });

  it.each([8_192, 8_193])(
    'takes an address of at most 8,192 characters, from the body and from the header: %d',
    (length) => {
      const address = `/${'b'.repeat(length - 1)}`;
      const found = length === 8_192 ? { address } : { why: expect.any(String) as string };

      expect(findNextLink({ body: { links: { next: address } } }, PLACES)).toEqual(found);
      expect(findNextLink({ body: {}, headers: { link: `<${address}>; rel=next` } }, PLACES)).toEqual(
        length === 8_192 ? { address } : { why: 'the address in the header Link is too long' },
      );
    },
  );

  it('takes a number or a list for no address', () => {
    for (const next of [7, true, ['/b']])
      expect(findNextLink({ body: { links: { next } } }, PLACES)).toHaveProperty('why');
  });

  it('stops at a place that it cannot use: the next one may lead elsewhere', () => {
    const document = { body: { links: { next: 7 } }, headers: { link: '</b>; rel=next' } };

    expect(findNextLink(document, PLACES)).toHaveProperty('why');
  });

  it.each<[string, Parameters<typeof findNextLink>[0], string]>([
    ['an object', { body: { links: { next: { href: '/b' } } } }, 'merchants.nextLink'],
    ['an endless address', { body: { links: { next: `/${'b'.repeat(9_000)}` } } }, 'merchants.nextLink'],
    ['two different next pages', { body: {}, headers: { link: '</b>; rel=next, </c>; rel=next' } }, '2 next pages'],
    ['a Link header that is none', { body: {}, headers: { link: 'next' } }, 'RFC 8288'],
  ])('says why it cannot use %s', (_, document, why) => {
    expect(findNextLink(document, PLACES)).toEqual({ why: expect.stringContaining(why) as string });
  });
});

describe('resolveNextLink', () => {
  const from = { baseUrl: 'https://service.example/api', path: '/v1/merchants?page=1' };

  it.each([
    ['https://service.example/api/v1/merchants?page=2', '/v1/merchants?page=2'],
    ['HTTPS://SERVICE.example:443/api/v1/merchants?page=2#top', '/v1/merchants?page=2'],
    ['/api/v1/merchants?page=2', '/v1/merchants?page=2'],
    ['?page=2&a=%20b', '/v1/merchants?page=2&a=%20b'],
    ['merchants/2', '/v1/merchants/2'],
  ])('resolves %s below the base address', (address, path) => {
    expect(resolveNextLink(address, from)).toEqual({ path });
  });

  it('resolves below a base address that ends with slashes', () => {
    const base = { baseUrl: 'https://service.example/api//', path: '/v1/merchants' };

    expect(resolveNextLink('/api/v1/merchants?page=2', base)).toEqual({ path: '/v1/merchants?page=2' });
  });

  it.each([
    ['another host', 'https://evil.example/api/v1/merchants?page=2', 'leads to https://evil.example'],
    ['another host without a scheme', '//evil.example/api/v1/merchants', 'leads to https://evil.example'],
    ['another host behind a user name', 'https://service.example@evil.example/api/v1', 'leads to https://evil.example'],
    ['another port', 'https://service.example:8443/api/v1/merchants', 'leads to https://service.example:8443'],
    ['plain http', 'http://service.example/api/v1/merchants', 'leads to http://service.example'],
    ['a scheme without a host', 'javascript:alert(1)', 'leads to null'],
    ['a path beside the base', '/v1/merchants?page=2', 'out of https://service.example/api'],
    ['a path that begins like the base', '/api2/merchants', 'out of https://service.example/api'],
    ['steps up', '../../../v1/merchants', 'out of https://service.example/api'],
    ['encoded steps up', '/api/%2e%2e/v1/merchants', 'out of https://service.example/api'],
    ['a hidden step up', '/api/..%2f..%2fadmin', 'out of https://service.example/api'],
    ['what is no address', 'https://[', 'is no address'],
  ])('refuses %s: the API key goes nowhere else', (_, address, why) => {
    expect(resolveNextLink(address, from)).toEqual({ why: expect.stringContaining(why) as string });
  });
});
