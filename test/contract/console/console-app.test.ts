import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningConsole } from '../../../src/console/console-app.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { temporaryLedger } from '../../support/servers/temporary-database.ts';
import { startTestConsole } from '../../unit/console/console-ledger.ts';

let ledger: Ledger;
let web: RunningConsole;
const errors: unknown[] = [];

beforeAll(async () => {
  ledger = await temporaryLedger();
  web = await startTestConsole({ ledger, onError: (error) => errors.push(error) });
});

afterAll(async () => {
  await web?.close();
  await ledger?.close();
});

it.each([
  ...['/%00', '/batches/%00', '/batches/%00/audit', '/batches/may?started=%00', '/batches/%00/invoices/1'],
  ...['/batches/%00/files/report.csv', '/api/batches/%00', '/api/batches?application=%00', '/search?q=%00'],
  ...['/%', '/%zz', '/batches/%', '/batches/%ff', '/batches/%E0%A4%A', '/api/batches/%ff', '/api/batches/%c3%28'],
])('an address with a NUL or a wrong code leads nowhere, over a real ledger: %s', async (path) => {
  const answer = await fetch(`${web.url}${path}`);

  expect(answer.status).toBe(404);
  expect(await answer.text()).toMatch(/There is nothing at this address\.|The ledger does not know this batch\./u);
  expect(errors).toEqual([]);
});
