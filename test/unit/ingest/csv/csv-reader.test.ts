import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { CsvReader } from '../../../../src/ingest/csv/csv-reader.ts';
import type { CsvRecord } from '../../../../src/ingest/csv/csv-reader.ts';
import { refusalOf } from '../ingested.ts';

async function read(text: string, size = 1 << 16): Promise<readonly CsvRecord[]> {
  const reader = new CsvReader(',');
  const bytes = Buffer.from(text);
  const records: CsvRecord[] = [];
  for (let at = 0; at < bytes.length; at += size) records.push(...(await reader.write(bytes.subarray(at, at + size))));
  return [...records, ...(await reader.end())];
}

describe('CsvReader', () => {
  it.each([1, 2, 3, 7, 1000])('tells the line on which each record starts, in chunks of %i bytes', async (size) => {
    const records = await read('a,b\r\n\r\n"x\r\ny",ã\n3,4\r"q\rq",6\r\nlast,1', size);

    expect(records).toEqual([
      { row: 1, cells: ['a', 'b'] },
      { row: 2, cells: [''] },
      { row: 3, cells: ['x\r\ny', 'ã'] },
      { row: 5, cells: ['3', '4'] },
      { row: 6, cells: ['q\rq', '6'] },
      { row: 8, cells: ['last', '1'] },
    ]);
  });

  it('builds no error for each record that is shorter or longer than the first one', async () => {
    const traces = vi.spyOn(Error, 'captureStackTrace');
    const records = await read(`a,b\n${'\nx\n1,2,3\n'.repeat(500)}`);
    const built = traces.mock.calls.length;
    traces.mockRestore();

    expect(records).toHaveLength(1501);
    expect(built).toBe(0);
  });

  it('reads back any table in any chunks, with the line of each record', async () => {
    const cell = fc
      .array(fc.constantFrom('a', 'ã', ',', '"', '\n', '\r\n', ' '), { maxLength: 5 })
      .map((parts) => parts.join(''));
    const table = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom('\n', '\r\n'),
        async (rows, size, end) => {
          const lines = rows.map((cells) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(','));
          const starts = lines.map(
            (_, at) => 1 + lines.slice(0, at).reduce((sum, line) => sum + line.split('\n').length, 0),
          );

          const records = await read(lines.map((line) => line + end).join(''), size);

          expect(records).toEqual(rows.map((cells, at) => ({ row: starts[at], cells })));
        },
      ),
    );
  });

  it.each([
    ['a quote that is never closed', 'a,b\nc,"d\ne,f\n', 'quote-unclosed', 2],
    ['a quote behind which a text goes on', 'a,b\nc,d\ne,"f" g\n', 'quote-misplaced', 3],
    ['a quote inside a text', 'a,b\nc,15" screen\n', 'quote-misplaced', 2],
    ['a cell that would fill the memory', `a,b\nc,${'x'.repeat(10 * 1024 * 1024)}\n`, 'record-too-long', 2],
  ])('locates %s', async (_, text, code, row) => {
    expect(await refusalOf(() => read(text))).toMatchObject({ code, row });
  });

  it('knows whether the last line was ended', async () => {
    const reader = new CsvReader(',');
    await reader.write(Buffer.from('a,b\n'));
    expect(reader.ended).toBe('line');
    await reader.write(Buffer.from('c'));
    expect(reader.ended).toBe('nothing');
    await reader.write(Buffer.from(',"d"'));
    expect(reader.ended).toBe('quote');
  });
});
