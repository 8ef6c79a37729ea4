import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { templatePath } from '../../../src/ledger/open-pglite-ledger.ts';
import { forTest } from '../../support/lifetime.ts';
import { lotePlace } from '../../support/lote/running-lote.ts';

it('a start puts a damaged template of the embedded ledger aside, says so, and comes up', async () => {
  const place = await forTest(lotePlace());
  const cache = join(place.directory, 'cache');
  const path = await templatePath(join(cache, 'lote/ledgers'));
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'PG_VERSION'), '17\n');

  const lote = place.all.start(['up'], { ...place.env, XDG_CACHE_HOME: cache });
  await lote.said('Console ');

  expect(lote.output()).toContain(`Lote cannot use ${path}: it is now ${path}.unusable-`);
});
