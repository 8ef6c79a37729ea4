import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decodeChunks } from '../../../../src/ingest/encoding/decide-encoding.ts';
import { refusalOf } from '../ingested.ts';
import fc from 'fast-check';
import { Utf8Scanner } from '../../../../src/ingest/encoding/scan-file.ts';
import { anyText } from '../../../support/any-text.ts';

async function decoded(chunks: readonly Uint8Array[], encoding: string): Promise<string> {
  async function* bytes() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of decodeChunks(bytes(), { encoding, bom: false })) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

describe('decodeChunks', () => {
  const lines = Buffer.from('a\r\nb\rc\n');
  const wide = iconv.encode('a\r\nb\rc\n', 'utf-16le');
  it.each([
    ['a byte that the encoding does not know', 'windows-1252', lines, [0x64, 0x81], 'encoding-damaged'],
    ['half of a pair', 'utf-16le', wide, [0x64, 0, 0, 0xd8, 0x64, 0], 'encoding-damaged'],
    ['half of a character', 'utf-16le', wide, [0x64], 'encoding-damaged'],
    ['a NUL character', 'utf-16le', wide, [0, 0], 'binary'],
  ] as const)('names the line of %s', async (_, encoding, before, bytes, code) => {
    expect(await refusalOf(() => decoded([before, Buffer.from(bytes)], encoding))).toMatchObject({ row: 4, code });
  });

  it.each(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'])(
    'reads characters that lie across chunks in %s',
    async (encoding) => {
      const text = encoding === 'windows-1252' ? 'ã€\n' : 'ã€😀\n';
      const bytes = [...iconv.encode(text, encoding)].map((byte) => Buffer.of(byte));

      expect(await decoded(bytes, encoding)).toBe(text);
    },
  );
});

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
