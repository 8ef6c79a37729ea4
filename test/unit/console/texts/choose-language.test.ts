import { describe, expect, it } from 'vitest';
import { chooseLanguage } from '../../../../src/console/texts/choose-language.ts';
import { pageFormat } from '../../../../src/console/pages/page-format.ts';

describe('chooseLanguage', () => {
  it.each([
    ['pt', { language: 'pt', locale: 'pt' }],
    ['PT-br', { language: 'pt', locale: 'pt-br' }],
    ['en;q=0.1, es;q=0.9', { language: 'es', locale: 'es' }],
    ['es;q=0, pt', { language: 'pt', locale: 'pt' }],
    ['*', { language: 'en', locale: 'en' }],
    ['est', { language: 'en', locale: 'en' }],
    ['pt-"><script>', { language: 'pt', locale: 'pt' }],
    [';;;,,,q=', { language: 'en', locale: 'en' }],
    ['es;q=NaN', { language: 'es', locale: 'es' }],
    ['pt-PT-PT', { language: 'pt', locale: 'pt-PT' }],
  ])('reads %j', (header, expected) => {
    expect(chooseLanguage(header)).toEqual(expected);
  });

  it.each(['pt-x-a', 'pt-12345678', 'es-419', 'en-US-u-nu-arab', 'pt-PT-PT', `pt-${'a'.repeat(500)}`, 'ptx-'])(
    'gives a locale that numbers can be written in: %s',
    (header) => {
      expect(pageFormat(chooseLanguage(header), 'UTC').count(1)).toBe('1');
    },
  );
});

describe('pageFormat', () => {
  const plain = (text: string) => text.replaceAll(/\s/gu, ' ');

  it.each([
    ['en', '1,234,567.50'],
    ['pt-BR', '1.234.567,50'],
    ['pt-PT', '1 234 567,50'],
    ['es', '1.234.567,50'],
  ])('groups digits as %s does', (locale, expected) => {
    expect(plain(pageFormat({ language: 'en', locale }).amount('1234567.50'))).toBe(expected);
  });

  it('writes times in the zone of the operator', () => {
    const format = pageFormat({ language: 'en', locale: 'en' }, 'Europe/Lisbon');

    expect(plain(format.time(Date.UTC(2026, 6, 1, 12)))).toBe('Jul 1, 2026, 1:00:00 PM');
  });
});
