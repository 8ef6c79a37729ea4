import { describe, expect, it } from 'vitest';
import { chooseLanguage } from '../../../src/texts/languages.ts';
import { documentFormat, speechFormat } from '../../../src/texts/speech-format.ts';

describe('speechFormat', () => {
  const plain = (text: string) => text.replaceAll(/\s/gu, ' ');

  it.each([
    ['en', '1,234,567.50'],
    ['pt-BR', '1.234.567,50'],
    ['pt-PT', '1 234 567,50'],
    ['es', '1.234.567,50'],
  ])('groups digits as %s does', (locale, expected) => {
    expect(plain(speechFormat({ language: 'en', locale }).amount('1234567.50'))).toBe(expected);
  });

  it('writes times in the zone of the operator', () => {
    const format = speechFormat({ language: 'en', locale: 'en' }, { timeZone: 'Europe/Lisbon' });

    expect(plain(format.time(Date.UTC(2026, 6, 1, 12)))).toBe('Jul 1, 2026, 1:00:00 PM');
  });

  it.each([
    [40, 'en', '0 seconds'],
    [320, 'en', '0.3 seconds'],
    [1_000, 'en', '1 second'],
    [59_400, 'pt', '59,4 segundos'],
    [60_000, 'es', '1 minuto'],
    [125_000, 'en', '2 minutes 5 seconds'],
    [119_900, 'en', '2 minutes'],
    [754_000, 'en', '13 minutes'],
    [7_500_000, 'en', '2 hours 5 minutes'],
    [90_000_000, 'en', '25 hours'],
  ])('tells %d ms in %s as %s', (ms, language, text) => {
    expect(speechFormat(chooseLanguage(language)).duration(ms)).toBe(text);
  });
});

describe('documentFormat', () => {
  const plain = (text: string) => text.replaceAll(/[\u00A0\u202F]/gu, ' ');
  const TIME = Date.UTC(2026, 10, 23, 2, 5);

  it.each([
    ['en', '2026-11-23 02:05 UTC', '2026-11-23', '-1 234 567.12345', '12 000'],
    ['en-US', 'Nov 23, 2026, 2:05 AM UTC', 'Monday, November 23, 2026', '-1,234,567.12345', '12,000'],
    ['pt-PT', '23/11/2026, 02:05 UTC', 'segunda-feira, 23 de novembro de 2026', '-1 234 567,12345', '12 000'],
    ['pt-BR', '23 de nov. de 2026, 02:05 UTC', 'segunda-feira, 23 de novembro de 2026', '-1.234.567,12345', '12.000'],
    ['es-ES', '23 nov 2026, 2:05 UTC', 'lunes, 23 de noviembre de 2026', '-1.234.567,12345', '12.000'],
  ])('for %s writes times in UTC and numbers as its readers do', (language, time, date, amount, count) => {
    const format = documentFormat(chooseLanguage(language));

    expect(plain(format.time(TIME))).toBe(time);
    expect(format.date('2026-11-23')).toBe(date);
    expect(plain(format.amount('-1234567.12345'))).toBe(amount);
    expect(plain(format.count(12_000))).toBe(count);
  });

  it.each([
    ['0', '0.00'],
    ['999', '999.00'],
    ['1000', '1 000.00'],
    ['-100.125', '-100.125'],
  ])('writes the money %s in English as %s, and rounds nothing', (decimal, expected) => {
    expect(plain(documentFormat(chooseLanguage('en')).money(decimal))).toBe(expected);
  });
});
