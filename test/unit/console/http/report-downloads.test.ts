import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reportFileAnswer } from '../../../../src/console/http/report-downloads.ts';

let reportsDir: string;

beforeEach(async () => {
  reportsDir = await mkdtemp(join(tmpdir(), 'lote-downloads-'));
  await mkdir(join(reportsDir, 'b1'));
});

afterEach(() => rm(reportsDir, { recursive: true, force: true }));

async function headersOf(name: string): Promise<readonly (string | null | undefined)[]> {
  await writeFile(join(reportsDir, 'b1', name), '<p>x</p>');
  const answer = await reportFileAnswer(reportsDir, 'b1', name);
  await answer?.body?.cancel();
  return [answer?.headers.get('content-type'), answer?.headers.get('content-disposition')];
}

describe('reportFileAnswer', () => {
  it('shows the report as a page', async () => {
    expect(await headersOf('report.html')).toEqual(['text/html; charset=utf-8', 'inline']);
  });

  it('shows nothing else as a page, whatever its name is', async () => {
    expect(await headersOf('corrections.html')).toEqual([
      'application/octet-stream',
      'attachment; filename="corrections.html"',
    ]);
    expect(await headersOf('corrections.csv')).toEqual(['text/csv', 'attachment; filename="corrections.csv"']);
  });
});
