import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchOf, lotePlace, type CommandBatch, type LotePlace } from '../support/lote/running-lote.ts';

describe('a corrected file at a service whose refusals prove nothing', () => {
  let place: LotePlace;

  beforeAll(async () => {
    place = await lotePlace({ up: true, profile: { idempotency: { mismatchCodes: [] } } });
  });

  afterAll(() => place.remove());

  async function run(...parameters: readonly string[]): Promise<CommandBatch> {
    return batchOf(await place.run('run', '--json', ...parameters));
  }

  it('replaces what was rejected only with the accepted risk of a duplicate, as a retry does', async () => {
    const file = await place.file('a.csv', { invoices: 2 });
    // The refused content stays refused: its key is asked once more before the corrected content is sent.
    place.front.script = ({ method, path, body }) =>
      method === 'POST' && path === '/v1/invoices' && body.includes('Cliente Secreto')
        ? { status: 422, json: { error: { code: 'no', message: 'No.' } } }
        : 'pass';
    expect((await run(file)).counts).toMatchObject({ rejected: 2 });
    const corrected = await place.file('b.csv', { invoices: 2 });
    await writeFile(corrected, (await readFile(file, 'utf8')).replaceAll('Cliente Secreto', 'Cliente Corrigido'));

    const refused = await run(corrected);
    place.expectIssued(0);
    const accepted = await run(refused.reports.corrections ?? '', '--accept-duplicate-risk');

    expect(refused).toMatchObject({ exitCode: 1, counts: { conflict: 2 } });
    expect(accepted).toMatchObject({ exitCode: 0, counts: { issued: 2 } });
    place.expectIssued(2);
  });
});
