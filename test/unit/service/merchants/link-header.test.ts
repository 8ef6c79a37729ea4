import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLinkHeader } from '../../../../src/service/merchants/next-link.ts';

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

  it.each<[string, string, unknown]>([
    ['white space around it', ' </b> ; rel=next ', [{ target: '/b', relations: ['next'], anchored: false }]],
    ['white space in the address', '< /b >; rel=next', [{ target: '/b', relations: ['next'], anchored: false }]],
    ['no relation', '</b>; title=x', [{ target: '/b', relations: [], anchored: false }]],
    ['an empty relation', '</b>; rel', [{ target: '/b', relations: [], anchored: false }]],
    [
      'blanks around its relations',
      '</b>; rel="  next   last "',
      [{ target: '/b', relations: ['next', 'last'], anchored: false }],
    ],
    ['a quoted character', '</b>; rel="ne\\xt"', [{ target: '/b', relations: ['next'], anchored: false }]],
    ['nothing at all', '', []],
  ])('reads a link with %s', (_, header, links) => {
    expect(parseLinkHeader(header)).toEqual(links);
  });

  it('keeps a comma and a semicolon in an address', () => {
    expect(targetsOfNext('</m?ids=1,2;x>; rel=next')).toEqual(['/m?ids=1,2;x']);
  });

  it('marks a link that is about another document', () => {
    expect(parseLinkHeader('</b>; rel=next; anchor="#x"')).toMatchObject([{ anchored: true }]);
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
