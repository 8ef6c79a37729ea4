import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineCount, placeOf } from '../../../src/ingest/line-count.ts';

const chunksOf = fc.array(
  fc.array(fc.constantFrom('a', 'ã', '\r', '\n', '\r\n'), { maxLength: 5 }).map((signs) => signs.join('')),
  { maxLength: 8 },
);

function linesOf(text: string): readonly string[] {
  return text.split(/\r\n|\r|\n/);
}

describe('lines', () => {
  it('are counted wherever chunks are cut, and looked ahead without counting', () => {
    fc.assert(
      fc.property(chunksOf, chunksOf, (chunks, ahead) => {
        const lines = new LineCount();
        for (const chunk of chunks) lines.add(Buffer.from(chunk));

        expect(lines.before(Buffer.from(ahead.join('')))).toBe(linesOf(chunks.join('') + ahead.join('')).length);
        expect(lines.line).toBe(linesOf(chunks.join('')).length);
      }),
      { numRuns: 2000 },
    );
  });

  it('and columns are told of a byte, wherever chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(chunksOf, chunksOf, async (before, behind) => {
        async function* bytes() {
          for (const chunk of [...before, ...behind]) yield Buffer.from(chunk);
        }
        const lines = linesOf(before.join(''));

        const column = (lines.at(-1) ?? '').length + 1;
        expect(await placeOf(bytes(), Buffer.byteLength(before.join('')))).toEqual({ line: lines.length, column });
      }),
    );
  });
});
