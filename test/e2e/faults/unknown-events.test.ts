import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forTest } from '../../support/lifetime.ts';
import { checkIn, lotePlace, nightSummary, readJson } from '../../support/lote/running-lote.ts';

describe('a service that makes a document and answers that it refuses it', () => {
  it('is told by its events in the report, in the night and by doctor', async () => {
    const place = await forTest(lotePlace());
    place.front.script = ({ method, path, body }) =>
      method === 'POST' && path === '/v1/invoices' && body.includes('F/2')
        ? { status: 422, json: { error: { code: 'invalid', message: 'Refused' } }, afterPassing: true }
        : 'pass';
    await place.file('events.csv', { invoices: 4 });

    const night = await place.run('nightly', 'now', '--json');
    const doctor = await place.run('doctor', '--json');

    const [file] = (await nightSummary(night)).runs[0]?.files ?? [];
    expect(file?.remarks).toContainEqual({ kind: 'events-of-unknown-invoices', n: 1 });
    const report = await readJson<{ notes: string[] }>(join(dirname(file?.report ?? ''), 'report.json'));
    expect(report.notes).toContainEqual(
      expect.stringContaining('1 webhook since this batch began told of invoices that this ledger does not know'),
    );
    expect(checkIn(doctor, 'events')).toMatchObject({ state: 'trouble' });
  });
});
