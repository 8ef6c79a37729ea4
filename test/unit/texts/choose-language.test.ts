import { describe, expect, it } from 'vitest';
import { chooseLanguage } from '../../../src/texts/languages.ts';
import { speechFormat } from '../../../src/texts/speech-format.ts';

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
      expect(speechFormat(chooseLanguage(header)).count(1)).toBe('1');
    },
  );
});
