import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeConsoleToken } from '../../../../src/app/data-dir/endpoints-file.ts';
import { findOwner, hasLeft, takeOrAsk } from '../../../../src/app/operator/owner-api.ts';
import { emptyDataDir, ownerAt } from './owner-at.ts';

const BATCH = {
  ...{ batchId: 'batch-a', file: 'a.csv', state: 'running', rows: 3, rowsWithoutInvoice: 0, invoices: 2, revision: 1 },
  ...{ startedAt: 1_700_000_000_000, finishedAt: null, counts: { issued: 1, accepted: 1 } },
  ...{ workflowId: 'batch-a', application: 'default', stopped: null, total: null },
  ...{ rowsLost: 0, totalsDiffer: null, contradicted: 0, contradictedRefs: [] },
};

/** The end of a command that waits for its answer. */
const NEVER = new AbortController().signal;

/** An owner whose console gives this answer, whatever is asked. */
async function ownerThatSays(status: number, body: string) {
  const requests: unknown[] = [];
  const server = createServer((request, response) => {
    void text(request).then((received) => {
      const { method, url, headers } = request;
      requests.push({ method, url, token: headers['x-lote-token'], body: received });
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
  });
  const owner = await ownerAt(await listening(server));
  if (owner === null) throw new Error('The test found no owner');
  return { owner, requests, closeConsole: () => new Promise<void>((resolve) => void server.close(() => resolve())) };
}

/** Its address, for as long as the test runs. */
async function listening(server = createServer()): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the owner of a data directory', () => {
  it('counts as leaving where its answer is cut off', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"batches":');
      setImmediate(() => response.destroy());
    });
    const owner = await ownerAt(await listening(server));

    await expect(owner?.batches(1)).rejects.toMatchObject({ code: 'owner-leaving' });
  });

  it('is found by what it wrote down of itself', async () => {
    const owner = await ownerAt(await listening());

    expect(owner?.endpoints).toMatchObject({ ledgerId: 'ledger-1', reportsDir: '/r' });
    expect(owner?.owns()).toBe(true);
  });

  it.each([
    ['nobody ever was there', async () => findOwner(await emptyDataDir())],
    ['its console is not up', async () => ownerAt(null)],
    ['its token is not written yet', async () => ownerAt('http://127.0.0.1:1', { token: false })],
  ])('is not found when %s', async (_, find) => {
    expect(await find()).toBeNull();
  });

  it('is not found when its file is half a file', async () => {
    const dataDir = await emptyDataDir();
    await writeFile(dataDir.endpoints, '{"pid": 1');
    await writeConsoleToken(dataDir, null);

    expect(await findOwner(dataDir)).toBeNull();
  });
});

it('a data directory is left alone that another process owns and says nothing of itself', async () => {
  const { path } = await emptyDataDir();

  await expect(takeOrAsk(path, async () => null, 500)).rejects.toMatchObject({ code: 'data-directory-owned' });
});

describe('what is asked of an owner', () => {
  it('is asked with its token, of the address that it told', async () => {
    const { owner, requests } = await ownerThatSays(200, JSON.stringify({ batches: [BATCH] }));

    expect(await owner.batches(7)).toEqual([BATCH]);
    expect(requests).toEqual([{ method: 'GET', url: '/api/batches?limit=7', token: 'the-token', body: '' }]);
  });
});

describe('an owner that refuses', () => {
  function failure(code: string): string {
    return JSON.stringify({ error: { code, message: 'The owner’s own sentence.' } });
  }

  it.each(['usage', 'service-unreachable', 'file-unreadable', 'owner-leaving'])(
    'is heard in its own words: %s',
    async (code) => {
      const { owner } = await ownerThatSays(409, failure(code));

      const said = { code, message: 'The owner’s own sentence.' };
      await expect(owner.run({ files: [], options: {} }, NEVER)).rejects.toMatchObject(said);
    },
  );

  it('because it knows no such batch has answered the question', async () => {
    const { owner } = await ownerThatSays(404, failure('batch-not-found'));

    expect(await owner.batch('batch-none')).toBeNull();
    await expect(owner.batches(1)).rejects.toMatchObject({ code: 'batch-not-found' });
  });

  it.each(['', '<html>Bad gateway</html>', '{"error":"text"}'])(
    'without a word that we understand is ours: %j',
    async (body) => {
      const { owner } = await ownerThatSays(502, body);

      const message = 'Asking the owner of the data directory: its console answered 502.';
      await expect(owner.batch('batch-a')).rejects.toMatchObject({ code: 'internal', message });
    },
  );

  it('has not left when it lives and its console cannot be reached, as from another container', async () => {
    const { owner, closeConsole } = await ownerThatSays(200, '{}');
    await closeConsole();

    const error: unknown = await owner.purge({ olderThanMs: 1, dryRun: true }).catch((reason: unknown) => reason);

    const message = expect.stringMatching(/nothing answers at http:\S+ within .* Nothing was opened/u) as string;
    expect(error).toMatchObject({ code: 'owner-leaving', message });
    expect(await hasLeft(owner, error)).toBe(false);
  });
});
