import { stat } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import { runLote } from '../../support/lote/lote-command.ts';
import { lotePlace } from '../../support/lote/running-lote.ts';

describe('lote demo', () => {
  const place = shared(() => lotePlace());
  let folders: Record<string, string>;

  beforeAll(() => {
    const { dataDir, inputDir, reportsDir } = place;
    folders = { LOTE_DATA_DIR: dataDir, LOTE_INPUT_DIR: inputDir, LOTE_REPORTS_DIR: reportsDir };
  });

  it('leaves no sample at a real service that the environment names, nor in a shared ledger', async () => {
    const shared = { ...folders, DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/lote' };

    for (const [env, name] of [
      [place.env, 'INVOICING_BASE_URL'],
      [shared, 'DATABASE_URL'],
    ] as const) {
      const { code, stderr } = await runLote(['demo'], env);

      expect(stderr).toContain(`${name} is set`);
      expect(code).toBe(64);
    }
    place.expectIssued(0);
    await expect(stat(place.dataDir), 'a ledger').rejects.toThrow('ENOENT');
  });

  it('hands no sample over to an owner that works at a real service', async () => {
    await place.start('up').said('Console');

    const { code, stderr } = await runLote(['demo'], folders);

    place.expectIssued(0);
    expect(stderr).toContain('it works at a real service');
    expect(code).toBe(64);
  });
});
