import { describe, expect, it } from 'vitest';
import { isSpreadsheetChange, mayChange } from '../../../../src/domain/text/spreadsheet-change.ts';

describe('isSpreadsheetChange', () => {
  it.each([
    ['00012', '12'],
    ['1E5', '100000'],
    ['1E5', '1,00E+05'],
    ['1e-2', '0,01'],
    ['+12', '12'],
    ['012345678', '12345678'],
    ['123456789012345678', '123456789012345000'],
    ['123456789012345678', '1.23457E+17'],
    ['123456789012345678', '1,23456789012346E+17'],
    ['100234567890', '1E+11'],
    ['0.12345678901', '0.123456789'],
    ['12,50', '1250'],
    ['12,50', '12,5'],
    ['1.234', '1234'],
    ['1.234', '1,234'],
    ['1.000', '1'],
    ['1 234,50', '1234.5'],
    ['(12,50)', '-12,5'],
    ['23%', '0,23'],
    ['6,00', '6'],
    ['11-26', 'nov/26'],
    ['11-26', 'Nov-26'],
    ['11-26', '26/11/2026'],
    ['1/2', '01/fev'],
    ['1-3', '01/mar/2026'],
    ['MAR-24', '01/03/2024'],
    ['MAR-24', 'mar/24'],
    ['2026-11-26', '26/11/2026'],
    ['12:30', '12:30:00'],
    ['1.5', '01/mai'],
    ['true', 'VERDADEIRO'],
    ['FALSE', 'FALSO'],
  ])('finds that a spreadsheet may make of %j the text %j', (was, now) => {
    expect(mayChange(was)).toBe(true);
    expect(isSpreadsheetChange(was, now)).toBe(true);
  });

  it.each([
    ['00012', '00012'],
    ['00012', ' 00012 '],
    ['00012', '13'],
    ['00012', 'A-12'],
    ['12,50', '12,55'],
    ['12,345', '12,35'],
    ['1.5', '2'],
    ['2026/11', '2026/12'],
    ['1/2024', '15/2024'],
    ['2026-11', '2026/11'],
    ['MAR-24', 'MAR-25'],
    ['MAR-24', 'ABR-24'],
    ['FT 2026/1', 'FT 2026/10'],
    ['1E5', '2E5'],
    ['1E5', '10000'],
    ['true', 'FALSO'],
    ['Ana', 'Anna'],
    ['', '12'],
    ['12', ''],
    ['-12', '12'],
  ])('leaves to a person that %j became %j', (was, now) => {
    expect(isSpreadsheetChange(was, now)).toBe(false);
  });
});

describe('mayChange', () => {
  it.each([
    '',
    '0',
    '12',
    '501964843',
    'F-1',
    'FT 2026/12',
    'PT501964843',
    'EUR',
    'IVA_23',
    'Ana Marta',
    'May Flowers',
    '1'.repeat(61),
  ])('is false for %j, which each spreadsheet keeps', (cell) => {
    expect(mayChange(cell)).toBe(false);
  });
});
