import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { shared } from '../support/lifetime.ts';
import { writeInvoiceFile } from '../support/files/batch-file.ts';
import { startFleet } from '../support/lote/fleet.ts';
import { newPlace, runLote, type RunningCommand } from '../support/lote/lote-command.ts';
import { batchOf } from '../support/lote/running-lote.ts';

describe.skipIf(inject('postgresUrl') === null)('workers on machines of their own', () => {
  const fleet = shared(() => startFleet({ roles: ['worker'], isProved: true }));
  const elsewhere = shared(newPlace);
  let worker: RunningCommand;

  beforeAll(() => {
    [worker] = fleet.parts as [RunningCommand];
  });

  it('refuse to start with a folder of their own, naming it, so that every batch has all its files', async () => {
    const { LOTE_INPUT_DIR, LOTE_REPORTS_DIR, LOTE_DATA_DIR } = elsewhere.env;
    const own = [{ LOTE_INPUT_DIR }, { LOTE_REPORTS_DIR }, { LOTE_DATA_DIR }];
    const strangers = own.map((folder) => fleet.start('worker', folder as never));

    const ends = await Promise.all(strangers.map(({ end }) => end));

    for (const [at, { code, stderr }] of ends.entries()) {
      expect(code, stderr).toBe(3);
      expect(stderr).toContain(Object.keys(own[at] ?? {})[0]);
    }
    const lost = await runLote(['run', await fileFromElsewhere()], {
      ...fleet.clientEnv,
      LOTE_INPUT_DIR: elsewhere.inputDir,
    });
    expect(lost.code, lost.stderr).toBe(3);
    expect(lost.stderr).toContain('LOTE_INPUT_DIR');
  });

  it('refuse to start with a clock of their own: by it they would repeat keys that the service has forgotten', async () => {
    const ahead = '--import=data:text/javascript,const{now}=Date;Date.now=()=>now()+3600000';

    const stranger = fleet.start('worker', { NODE_OPTIONS: ahead });
    const started = stranger.said('Worker on task queue').then(
      () => 'started',
      () => stranger.end,
    );

    expect(await Promise.race([stranger.end, started])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(
        /found the one of this machine 3[56]\d\d s ahead\. Nothing was sent or removed\. Set both \(NTP\)/,
      ) as unknown,
    });
  });

  it('wait while the reports folder is not mounted, write nothing beneath, and end when it is back', async () => {
    const { reportsDir } = fleet.place;
    const file = await fileFromElsewhere();
    await rename(reportsDir, `${reportsDir}-away`);
    await mkdir(reportsDir);
    const run = fleet.run('run', file, '--json');
    await worker.said('folder-unusable');

    expect(await readdir(reportsDir)).toEqual([]);
    await rm(reportsDir, { recursive: true });
    await rename(`${reportsDir}-away`, reportsDir);

    const end = await run;
    expect(end.code, end.stderr).toBe(0);
    const batch = batchOf(end);
    expect(batch).toMatchObject({ state: 'finished', counts: { issued: 30 } });
    expect(batch.reports.json.startsWith(reportsDir)).toBe(true);
  });

  /** A run brings it into the input folder that it knows. */
  async function fileFromElsewhere(): Promise<string> {
    const file = join(elsewhere.directory, 'from-elsewhere.csv');
    await writeInvoiceFile(file, { invoices: 30 });
    return file;
  }
});
