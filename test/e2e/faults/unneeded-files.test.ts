import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { templatePath } from '../../../src/ledger/open-pglite-ledger.ts';
import { newPlace, processes } from '../../support/lote/lote-command.ts';
import { ANY_PORTS, sharedTemporal } from '../../support/lote/running-lote.ts';

it('a start puts a damaged template of the embedded ledger aside, says so, and comes up', async () => {
  const place = await newPlace();
  const all = processes();
  onTestFinished(async () => {
    await all.killAll();
    await place.remove();
  });
  const cache = join(place.directory, 'cache');
  const path = await templatePath(join(cache, 'lote/ledgers'));
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'PG_VERSION'), '17\n');
  const env = { ...place.env, ...sharedTemporal(), ...ANY_PORTS, XDG_CACHE_HOME: cache };

  const lote = all.start(['up'], env);
  await lote.said('Console ');

  expect(lote.output()).toContain(`Lote cannot use ${path}: it is now ${path}.unusable-`);
});
