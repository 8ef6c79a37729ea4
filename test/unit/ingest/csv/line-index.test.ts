import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineIndex, LineCount } from '../../../../src/ingest/csv/line-index.ts';

function naiveLine(text: string, offset: number): number {
  return (
    text.slice(0, offset).split(/\r\n|\n|\r(?!\n)/).length -
    (text[offset - 1] === '\r' && text[offset] === '\n' ? 1 : 0)
  );
}

describe('LineIndex', () => {
  it('counts LF, CRLF and CR as one line each, wherever chunks end', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', '\n', '\r', '\r\n'), { maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        (parts, size) => {
          const text = `${parts.join('')}z`;
          const lines = new LineIndex();
          for (let at = 0; at < text.length; at += size) lines.push(Buffer.from(text.slice(at, at + size)));

          for (let offset = 0; offset < text.length; offset += 1) {
            const inside = text[offset] === '\n' && text[offset - 1] === '\r';
            if (!inside) expect([offset, lines.lineAt(offset)]).toEqual([offset, naiveLine(text, offset)]);
          }
        },
      ),
    );
  });

  it('goes on counting after lines were forgotten', () => {
    const lines = new LineIndex();
    lines.push(Buffer.from('a\nb\nc\n'));
    lines.forgetBefore(4);
    lines.push(Buffer.from('d\ne'));

    expect(lines.lineAt(4)).toBe(3);
    expect(lines.lineAt(8)).toBe(5);
  });

  it('tells columns in characters, also of a line that began in an earlier chunk', () => {
    const lines = new LineIndex();
    lines.push(Buffer.from('x\nãé'));
    lines.push(Buffer.from('ñ!'));

    expect(lines.columnAt(2 + 4 + 2)).toBe(4);
  });
});

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
