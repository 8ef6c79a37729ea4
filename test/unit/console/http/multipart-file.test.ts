import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { multipartFile } from '../../../../src/console/routes/file-routes.ts';

const TYPE = 'multipart/form-data; boundary=----LoteBoundary';

function form(parts: readonly { readonly headers: string; readonly body: string }[]): Buffer {
  const text = parts.map(({ headers, body }) => `------LoteBoundary\r\n${headers}\r\n\r\n${body}\r\n`).join('');
  return Buffer.from(`${text}------LoteBoundary--\r\n`);
}

function fileForm(content: string, name = 'may.csv'): Buffer {
  return form([
    {
      headers: `Content-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/csv`,
      body: content,
    },
  ]);
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Buffer, pieceSize = 7): Promise<{ name: string; content: string } | null> {
  const file = await multipartFile(TYPE, inPieces(bytes, pieceSize));
  if (file === null) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.content) chunks.push(Buffer.from(chunk));
  return { name: file.name, content: Buffer.concat(chunks).toString() };
}

/** What is left when a boundary is cut out may make another one. */
function withoutBoundary(text: string): string {
  const left = text.replaceAll(/(?:^|\r\n)(?:------LoteBoundary)+/gu, '');
  return left === text ? text : withoutBoundary(left);
}

describe('multipartFile', () => {
  it('gives the bytes of the file, however the network cuts them and whatever they look like', async () => {
    const hostile = fc.array(
      fc.constantFrom('\r\n', '--', '------LoteBoundary', '\r\n------LoteBoundar', 'a', '\r', '\n', '€', ','),
    );
    await fc.assert(
      fc.asyncProperty(hostile, fc.integer({ min: 1, max: 64 }), async (words, pieceSize) => {
        // The one thing no form can carry is its own boundary at the beginning of a line: browsers choose one that does not occur.
        const content = withoutBoundary(words.join(''));

        expect(await read(fileForm(content), pieceSize)).toEqual({ name: 'may.csv', content });
      }),
    );
  });

  it.each([
    ['nothing was chosen', fileForm('', '')],
    ['there is no field', Buffer.from('------LoteBoundary--\r\n')],
  ])('is null when %s', async (_, bytes) => {
    expect(await read(bytes)).toBeNull();
  });

  it.each([
    ['C:\\Users\\Ana\\maio.csv', 'maio.csv'],
    ['../../etc/passwd', 'passwd'],
    ['..', 'upload.csv'],
    ['.hidden.csv', 'hidden.csv'],
    ['a%22b.csv', 'a_b.csv'],
    ['fatura\u202Ecsv.exe', 'fatura_csv.exe'],
    ['tab\there.csv', 'tab_here.csv'],
    ['line\u2028end.csv', 'line_end.csv'],
    ['faturação maio (2).csv', 'faturação maio (2).csv'],
    [`${'ã'.repeat(300)}.csv`, `${'ã'.repeat(120)}.csv`],
    // A file system counts bytes.
    [`${'€'.repeat(300)}.csv`, `${'€'.repeat(80)}.csv`],
    [`a.${'€'.repeat(20)}`, `a.${'€'.repeat(11)}`],
  ])('makes a plain name of %j', async (given, expected) => {
    expect((await read(fileForm('x', given)))?.name).toBe(expected);
  });

  it.each(['', 'text/csv', 'multipart/form-data', 'multipart/form-data; boundary='])(
    'refuses the content type %j',
    async (type) => {
      await expect(multipartFile(type, inPieces(fileForm('x'), 9))).rejects.toMatchObject({ code: 'usage' });
    },
  );

  it.each([0, 20, 60, 118, 130])('refuses a form that ends after %i bytes', async (length) => {
    await expect(read(fileForm('x'.repeat(40)).subarray(0, length))).rejects.toMatchObject({ code: 'usage' });
  });

  it('refuses a file without a closing boundary also when the form has ended before its first read', async () => {
    const bytes = fileForm('a,b\nc,d').subarray(0, -'\r\n------LoteBoundary--\r\n'.length);
    const file = await multipartFile(TYPE, inPieces(bytes, bytes.length));
    await new Promise((resolve) => setImmediate(resolve));

    await expect(Readable.from(file?.content ?? []).toArray()).rejects.toMatchObject({ code: 'usage' });
  });

  it('ends when who sends goes away half-way', async () => {
    async function* brokenOff(): AsyncGenerator<Uint8Array> {
      yield fileForm('a,b').subarray(0, -20);
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('aborted');
    }
    const file = await multipartFile(TYPE, brokenOff());

    await expect(Readable.from(file?.content ?? []).toArray()).rejects.toMatchObject({ code: 'usage' });
  });

  it('reads no more of a part’s headers than a browser sends', async () => {
    const bytes = form([{ headers: `Content-Disposition: ${'x'.repeat(20_000)}`, body: '' }]);

    expect(await read(bytes, 1_000)).toBeNull();
  });

  it('reads nothing after the file, and releases a sender that goes on', async () => {
    let sent = 0;
    let ended = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        yield fileForm('a,b').subarray(0, -4);
        for (;;) {
          yield Buffer.alloc(1_024, '\r\n--');
          sent += 1_024;
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        ended = true;
      }
    }
    const file = await multipartFile(TYPE, endless());
    for await (const chunk of file?.content ?? []) void chunk;

    await expect.poll(() => ended).toBe(true);
    expect(sent).toBeLessThan(1_024 * 1_024);
  });
});
