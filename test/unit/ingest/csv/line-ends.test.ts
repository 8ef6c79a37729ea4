import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineCount } from '../../../../src/ingest/csv/line-index.ts';

const pieces = fc.array(
  fc.array(fc.constantFrom('a', '\r', '\n', '\r\n'), { maxLength: 5 }).map((signs) => signs.join('')),
  { maxLength: 8 },
);

describe('LineCount', () => {
  it('counts the lines of a text wherever its chunks are cut, and looks ahead without counting', () => {
    fc.assert(
      fc.property(pieces, pieces, (chunks, ahead) => {
        const lines = new LineCount();
        for (const chunk of chunks) lines.add(Buffer.from(chunk));

        const lineAfter = (text: string) => text.split(/\r\n|\r|\n/).length;
        expect(lines.before(Buffer.from(ahead.join('')))).toBe(lineAfter(chunks.join('') + ahead.join('')));
        expect(lines.before(Buffer.alloc(0))).toBe(lineAfter(chunks.join('')));
      }),
      { numRuns: 2000 },
    );
  });
});
