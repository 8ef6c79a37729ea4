import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startConsole, type RunningConsole } from '../../../src/console/console-app.ts';
import { openLedger } from '../../../src/app/account/open-ledger.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';

let directory: string;
let ledger: Ledger;
let web: RunningConsole;
const errors: unknown[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-console-'));
  ledger = await openLedger({ databaseUrl: null, directory: join(directory, 'ledger') });
  web = await startConsole({
    ...{ ledger, reportsDir: directory, version: '0.1.0', host: '127.0.0.1', port: 0 },
    ready: () => Promise.resolve({ status: 'ready', parts: {} }),
    links: { temporalUi: null },
    onError: (error) => errors.push(error),
  });
});

afterAll(async () => {
  await web?.close();
  await ledger?.close();
  await rm(directory, { recursive: true, force: true });
});

beforeEach(() => {
  errors.length = 0;
});

describe('an address of a console over a real ledger', () => {
  it.each([
    ...['/%00', '/batches/%00', '/batches/%00/audit', '/batches/may?started=%00'],
    ...['/batches/%00/invoices/1', '/batches/%00/files/report.csv'],
    ...['/api/batches/%00', '/api/batches?application=%00', '/search?q=%00'],
  ])('that holds a NUL leads nowhere: %s', async (path) => {
    const answer = await fetch(`${web.url}${path}`);

    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('There is nothing at this address.');
    expect(errors).toEqual([]);
  });

  it.each(['/%', '/%zz', '/batches/%', '/batches/%ff', '/batches/%E0%A4%A', '/api/batches/%ff', '/api/batches/%c3%28'])(
    'that is wrongly encoded leads nowhere: %s',
    async (path) => {
      const answer = await fetch(`${web.url}${path}`);

      expect(answer.status).toBe(404);
      expect(errors).toEqual([]);
    },
  );
});
