import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decodeChunks } from '../../../../src/ingest/encoding/decode-chunks.ts';
import { Refusal } from '../../../../src/ingest/findings.ts';

async function decoded(chunks: readonly Uint8Array[], encoding: string): Promise<string> {
  async function* bytes() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of decodeChunks(bytes(), { encoding, bom: false })) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

async function refusalOf(chunks: readonly Uint8Array[], encoding: string): Promise<unknown> {
  return decoded(chunks, encoding).catch((error: unknown) => (error instanceof Refusal ? error.finding : error));
}

describe('decodeChunks', () => {
  it('names the line of what it cannot read', async () => {
    const lines = Buffer.from('a\r\nb\rc\n');
    const wide = iconv.encode('a\r\nb\rc\n', 'utf-16le');

    expect(await refusalOf([lines, Buffer.from([0x64, 0x81])], 'windows-1252')).toMatchObject({
      row: 4,
      code: 'encoding-damaged',
    });
    expect(await refusalOf([wide, Buffer.from([0x64, 0, 0, 0xd8, 0x64, 0])], 'utf-16le')).toMatchObject({ row: 4 });
    expect(await refusalOf([wide, Buffer.from([0x64])], 'utf-16le')).toMatchObject({
      row: 4,
      code: 'encoding-damaged',
    });
    expect(await refusalOf([wide, Buffer.from([0, 0])], 'utf-16le')).toMatchObject({ row: 4, code: 'binary' });
  });

  it('reads characters that lie across chunks', async () => {
    const bytes = iconv.encode('ã€😀\n', 'utf-16be');

    expect(
      await decoded(
        [...bytes].map((byte) => Buffer.of(byte)),
        'utf-16be',
      ),
    ).toBe('ã€😀\n');
  });
});
