import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNextLink, parseLinkHeader, resolveNextLink } from '../../../../src/service/merchants/next-link.ts';

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

const targetsOfNext = (header: string) =>
  parseLinkHeader(header)
    ?.filter(({ relations }) => relations.includes('next'))
    .map(({ target }) => target);

describe('parseLinkHeader', () => {
  it.each<[string, string]>([
    ['one link', '</b>; rel="next"'],
    ['a relation without quotes', '</b>;rel=next'],
    ['a relation in capitals', '</b>; REL="Next"'],
    ['several relations of one link', '</b>; rel="last \t next"'],
    ['links before and behind', '</a>; rel="prev", </b>; rel="next", </c>; rel="last"'],
    ['a parameter without a value before it', '</a>; rel=prev; crossorigin, </b>; rel=next'],
    ['a comma and a semicolon in quotes', '</a>; title="one, <two>; rel=next"; rel=prev, </b>; rel="next"'],
    ['a quoted quotation mark', '</a>; title="\\", </c>; rel=next; x=\\""; rel=prev, </b>; rel="next"'],
    ['an extended parameter', "</b>; rel=next; title*=UTF-8'en'n%C3%A4chste"],
    ['an extended parameter that is none', '</b>; rel=next; title*=x'],
    ['a second rel, which does not count', '</b>; rel=next; rel=prev, </c>; rel=prev; rel=next'],
    ['a parameter called uri', '</b>; uri="/evil"; rel=next'],
    ['an empty element and an empty parameter', ' , </b>; ; rel=next,'],
    ['white space behind an empty element', '</b>; rel=next, '],
  ])('finds the next page beside %s', (_, header) => {
    expect(targetsOfNext(header)).toEqual(['/b']);
  });

  const link = { target: '/b', relations: ['next'], anchored: false };
  it.each<[string, string, unknown]>([
    ['white space around it', ' </b> ; rel=next ', [link]],
    ['white space in the address', '< /b >; rel=next', [link]],
    ['no relation', '</b>; title=x', [{ ...link, relations: [] }]],
    ['an empty relation', '</b>; rel', [{ ...link, relations: [] }]],
    ['blanks around its relations', '</b>; rel="  next   last "', [{ ...link, relations: ['next', 'last'] }]],
    ['a quoted character', '</b>; rel="ne\\xt"', [link]],
    ['a comma and a semicolon in its address', '</m?ids=1,2;x>; rel=next', [{ ...link, target: '/m?ids=1,2;x' }]],
    ['an anchor: it is about another document', '</b>; rel=next; anchor="#x"', [{ ...link, anchored: true }]],
    ['nothing at all', '', []],
  ])('reads a link with %s', (_, header, links) => {
    expect(parseLinkHeader(header)).toEqual(links);
  });

  it.each(['/b; rel=next', '</b; rel=next', '</b> rel=next', '</a>; rel="prev, </b>; rel=next', '</b>; rel=next x'])(
    'gives up on %s: a link that was passed over could be the next one',
    (header) => {
      expect(parseLinkHeader(header)).toBeNull();
    },
  );

  it('ends with every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'<>;,="\\ \tarelnext*'.split('')) }), (header) => {
        const links = parseLinkHeader(header);
        expect(links === null || Array.isArray(links)).toBe(true);
      }),
    );
  });
});
