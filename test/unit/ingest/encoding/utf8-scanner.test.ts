import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Utf8Scanner } from '../../../../src/ingest/encoding/scan-file.ts';
import { anyText } from '../../../support/any-text.ts';

function scan(bytes: Uint8Array, size: number): Utf8Scanner {
  const scanner = new Utf8Scanner();
  for (let at = 0; at < bytes.length; at += size) scanner.write(bytes.subarray(at, at + size));
  scanner.end();
  return scanner;
}

describe('Utf8Scanner', () => {
  it('accepts any text, wherever chunks end', () => {
    fc.assert(
      fc.property(anyText(), fc.integer({ min: 1, max: 7 }), (text, size) => {
        const bytes = Buffer.from(text);
        expect(scan(bytes, size).invalidAt).toBeNull();
      }),
    );
  });

  it('agrees with the fatal decoder on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), fc.integer({ min: 1, max: 5 }), (bytes, size) => {
        let valid = true;
        try {
          new TextDecoder('utf-8', { fatal: true }).decode(bytes);
        } catch {
          valid = false;
        }
        expect(scan(bytes, size).invalidAt === null).toBe(valid);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([1, 2, 3, 100])('locates the first bad byte in chunks of %i', (size) => {
    const scanner = scan(Buffer.concat([Buffer.from('ação'), Buffer.from([0xe1]), Buffer.from('x')]), size);

    expect(scanner).toMatchObject({ invalidAt: 6, cutShort: false, multibyte: true });
  });

  it('tells a text that ends inside a character', () => {
    expect(scan(Buffer.from('olá').subarray(0, 3), 2)).toMatchObject({
      invalidAt: 2,
      cutShort: true,
      multibyte: false,
    });
  });

  it('sees no character of several bytes in windows-1252', () => {
    expect(scan(Buffer.from('Jo\xe3o', 'latin1'), 64)).toMatchObject({ invalidAt: 2, multibyte: false });
  });
});
