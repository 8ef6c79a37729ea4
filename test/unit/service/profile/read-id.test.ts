import { describe, expect, it } from 'vitest';
import { readId } from '../../../../src/service/profile/place.ts';

describe('readId', () => {
  it.each<[string, unknown, string, string]>([
    ['text with its prefix', 'mrc_a-B_9', 'mrc_', 'mrc_a-B_9'],
    ['text where no prefix is asked for', '9f1c-04', '', '9f1c-04'],
    ['a whole number where no prefix is asked for', 9_007_199_254_740_991, '', '9007199254740991'],
    ['the last step of an address', 'https://service.example/v1/merchants/mrc_1', 'mrc_', 'mrc_1'],
    ['the last step of a path', '/v1/merchants/17/', '', '17'],
    ['signs that other services use: a number of a document', 'FT.2026-15:3', '', 'FT.2026-15:3'],
    ['a number behind zeros', '007', '', '007'],
    ['zero behind a prefix', 'FT-0', 'FT-', 'FT-0'],
    ['base64', 'SW52b2ljZTox==', '', 'SW52b2ljZTox=='],
    ['250 characters behind the prefix', `mrc_${'a'.repeat(250)}`, 'mrc_', `mrc_${'a'.repeat(250)}`],
  ])('reads %s', (_, value, prefix, id) => {
    expect(readId(value, prefix)).toBe(id);
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, ''],
    ['empty text', '', ''],
    ['the prefix alone', 'mrc_', 'mrc_'],
    ['another prefix', 'inv_1', 'mrc_'],
    ['251 characters behind the prefix', `mrc_${'a'.repeat(251)}`, 'mrc_'],
    ['a step up in a path', 'mrc_../x', 'mrc_'],
    ['text with steps that is no address: "2024/15" is another id than "15"', '2024/15', ''],
    ['an address with nothing behind its host', 'https://service.example/', ''],
    ['an address with a query, where the id may stand', '/v1/invoices?id=5', ''],
    ['an address whose last step is encoded', '/v1/invoices/inv_%41', 'inv_'],
    ['an address that is none', 'http://[/inv_1', 'inv_'],
    ['zero, which programs write for none', 0, ''],
    ['a number below zero', -5, ''],
    ['zero as a text', '0', ''],
    ['a number below zero as a text, as one of many digits comes', '-9007199254740992', ''],
    ['zero as the last step of an address', '/v1/invoices/0', ''],
    ['a fraction', 1.5, ''],
    ['a number that lost digits', 2 ** 53, ''],
    ['an endless address', `/${'a/'.repeat(50_000)}`, ''],
    ['white space inside', 'inv_ 1', 'inv_'],
    ['an object', { id: 'mrc_1' }, 'mrc_'],
    ['dots, which are steps in a path', '..', ''],
    ['dots behind the prefix', 'mrc_..', 'mrc_'],
    ['what a spreadsheet would calculate', '=1+1', ''],
    ['an encoded character', 'inv_%2e', 'inv_'],
    ['a line break behind the id', 'mrc_1\n', 'mrc_'],
  ])('does not take %s', (_, value, prefix) => {
    expect(readId(value, prefix)).toBeNull();
  });
});
