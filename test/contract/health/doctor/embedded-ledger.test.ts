import { mkdir } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { acquireDirectoryLock } from '../../../../src/app/data-dir/directory-lock.ts';
import { openLedger } from '../../../../src/app/account/open-ledger.ts';
import { examine } from '../../../../src/health/doctor/doctor.ts';
import { newPlace, type Place } from '../../../support/lote/lote-command.ts';
import { until } from '../../../support/until.ts';

/** A service that is there, and keeps whoever asks for its merchants waiting. */
async function silentService(): Promise<{ readonly url: string; readonly waiting: ServerResponse[] }> {
  const waiting: ServerResponse[] = [];
  const http = createServer(({ method }, response) => {
    if (method === 'HEAD') response.end();
    else waiting.push(response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.close().closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, waiting };
}

async function placeWithLedger(): Promise<Place> {
  const place = await newPlace();
  onTestFinished(() => place.remove());
  await mkdir(place.dataDir, { recursive: true });
  await openLedger({ databaseUrl: null, directory: join(place.dataDir, 'ledger') }).then((ledger) => ledger.close());
  return place;
}

it('leaves an embedded ledger as soon as it is read, while the service is still being asked', async () => {
  const place = await placeWithLedger();
  const { url, waiting } = await silentService();
  let hasEnded = false;
  const examined = examine({ ...place.env, INVOICING_BASE_URL: url, INVOICING_API_KEY: 'sk_test_sandbox' }).finally(
    () => (hasEnded = true),
  );
  await until(() => waiting.length > 0);

  await until(async () => {
    const lock = await acquireDirectoryLock(place.dataDir);
    await lock?.release();
    return lock !== null;
  });

  expect(hasEnded).toBe(false);
  for (const response of waiting) response.destroy();
  expect(await examined).toContainEqual(expect.objectContaining({ name: 'ledger schema', state: 'ok' }));
});
