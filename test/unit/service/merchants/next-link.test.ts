import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNextLink, resolveNextLink } from '../../../../src/service/merchants/next-link.ts';

const PLACES = ['/links/next', 'header:Link'];

describe('findNextLink', () => {
  it.each<[string, Parameters<typeof findNextLink>[0], unknown]>([
    ['an address in the body', { body: { links: { next: '/b' } } }, '/b'],
    ['a Link header', { body: {}, headers: { link: '</b>; rel=next' } }, '/b'],
    ['several Link headers', { body: {}, headers: { link: ['</a>; rel=prev', '</b>; rel=next'] } }, '/b'],
    ['the same next page twice', { body: {}, headers: { link: '</b>; rel=next, </b>; rel=next' } }, '/b'],
    ['null in the body', { body: { links: { next: null } } }, null],
    ['a Link header of other pages', { body: {}, headers: { link: '</a>; rel=prev' } }, null],
    ['no link at all', { body: [] }, null],
  ])('reads %s', (_, document, found) => {
    expect(findNextLink(document, PLACES)).toBe(found);
  });

  it('looks at the places behind a Link header that names no next page', () => {
    const document = { body: { next: '/b' }, headers: { link: '</a>; rel=prev' } };
    expect(findNextLink(document, ['header:Link', '/next'])).toBe('/b');
  });

  it.each([
    ['x-header:link', undefined],
    ['header: LINK ', '/b'],
    ['header:linked', '</b>; rel=next'],
    ['header:x-link', '</b>; rel=next'],
  ])('reads %s as a Link header only if it is one', (place, address) => {
    const value = '</b>; rel=next';
    const headers = { link: value, linked: value, 'x-link': value };

    expect(findNextLink({ body: {}, headers }, place)).toBe(address ?? null);
  });

  it.each([
    ['the body', (next: string) => ({ body: { links: { next } } })],
    ['the header', (next: string) => ({ body: {}, headers: { link: `<${next}>; rel=next` } })],
  ])('takes an address of at most 8,192 characters from %s', (_, documentOf) => {
    const address = `/${'b'.repeat(8_191)}`;

    expect(findNextLink(documentOf(address), PLACES)).toBe(address);
    expect(() => findNextLink(documentOf(`${address}b`), PLACES)).toThrow('is no address');
  });

  it.each([7, true, ['/b']])('stops at a place that holds %j: the next one may lead elsewhere', (next) => {
    const document = { body: { links: { next } }, headers: { link: '</b>; rel=next' } };

    expect(() => findNextLink(document, PLACES)).toThrow('is no address');
  });

  it.each<[string, Parameters<typeof findNextLink>[0], string]>([
    ['an object', { body: { links: { next: { href: '/b' } } } }, 'merchants.nextLink'],
    ['an endless address', { body: { links: { next: `/${'b'.repeat(9_000)}` } } }, 'merchants.nextLink'],
    ['two different next pages', { body: {}, headers: { link: '</b>; rel=next, </c>; rel=next' } }, '2 next pages'],
    ['a Link header that is none', { body: {}, headers: { link: 'next' } }, 'RFC 8288'],
  ])('says why it cannot use %s', (_, document, why) => {
    expect(() => findNextLink(document, PLACES)).toThrow(why);
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
    expect(resolveNextLink(address, from)).toBe(path);
  });

  it('resolves below a base address that ends with slashes', () => {
    expect(resolveNextLink('/api/v1/merchants?page=2', { ...from, baseUrl: `${from.baseUrl}//` })).toBe(
      '/v1/merchants?page=2',
    );
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
    expect(() => resolveNextLink(address, from)).toThrow(why);
  });
});

describe('a Link header', () => {
  const nextOf = (link: string) => findNextLink({ body: {}, headers: { link } }, 'header:Link');

  it.each<[string, string]>([
    ['one link', '</b>; rel="next"'],
    ['a relation without quotes', '</b>;rel=next'],
    ['a relation in capitals', '</b>; REL="Next"'],
    ['several relations of one link', '</b>; rel="last \t next"'],
    ['blanks around its relations', '</b>; rel="  next   last "'],
    ['links before and behind', '</a>; rel="prev", </b>; rel="next", </c>; rel="last"'],
    ['a parameter without a value before it', '</a>; rel=prev; crossorigin, </b>; rel=next'],
    ['a comma and a semicolon in quotes', '</a>; title="one, <two>; rel=next"; rel=prev, </b>; rel="next"'],
    ['a quoted quotation mark', '</a>; title="\\", </c>; rel=next; x=\\""; rel=prev, </b>; rel="next"'],
    ['an extended parameter', "</b>; rel=next; title*=UTF-8'en'n%C3%A4chste"],
    ['a second rel, which does not count', '</b>; rel=next; rel=prev, </c>; rel=prev; rel=next'],
    ['a parameter called uri', '</b>; uri="/evil"; rel=next'],
    ['an empty element and an empty parameter', ' , </b>; ; rel=next,'],
    ['white space around it and in the address', ' < /b > ; rel=next, '],
    ['another link of another document', '</c>; rel=next; anchor="#x", </b>; rel=next'],
  ])('names the next page with %s', (_, header) => {
    expect(nextOf(header)).toBe('/b');
  });

  it.each(['', '</b>; title=x', '</b>; rel', '</b>; rel=', '</b>; rel=nextpage', '</b>; rel=next; anchor="#x"'])(
    'names none with %j',
    (header) => {
      expect(nextOf(header)).toBeNull();
    },
  );

  it('may hold commas and semicolons in its address', () => {
    expect(nextOf('</m?ids=1,2;x>; rel=next')).toBe('/m?ids=1,2;x');
  });

  it.each(['/b; rel=next', '</b; rel=next', '</b> rel=next', '</a>; rel="prev, </b>; rel=next', '</b>; rel=next x'])(
    'is not read from %s: a link that was passed over could be the next one',
    (header) => {
      expect(() => nextOf(header)).toThrow('RFC 8288');
    },
  );

  it('is read or refused, whatever it says', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'<>;,="\\ \tarelnext*'.split('')) }), (header) => {
        try {
          expect(nextOf(header)).toSatisfy((next) => next === null || typeof next === 'string');
        } catch (error) {
          expect(String(error)).toMatch(/RFC 8288|next pages/);
        }
      }),
    );
  });

  it.each([' ;', ' ; a', '; a= ', ';  a="b"  '])('with very many of %j is refused in no time', (part) => {
    const began = performance.now();

    expect(() => nextOf(`</b>${part.repeat(4_000)}"`)).toThrow('RFC 8288');
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});
