import { appendFile, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnnouncedReport } from '../../../../activities/deps.ts';
import {
  claimDrops,
  finishNightlyRun,
  openNightlyRun,
  archiveDrop,
  type DroppedFile,
} from '../../../../activities/nightly/nightly.ts';
import { createDropFolder } from '../../../../src/nightly/claim-files.ts';
import { createRunLog } from '../../../../src/nightly/run-log.ts';
import { createFileReader } from '../../../../src/app/files/input-files.ts';
import type { BatchResult } from '../../../../src/domain/messages/messages.ts';
import { NOW } from '../../../contract/ledger/scenario.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { activityPlaces, asActivity, runsThatAre, type ActivityPlace } from '../activity-place.ts';
import type { NightlyRun } from '../../../../src/domain/records/dropped-file.ts';

const placeOf = activityPlaces();
const NIGHT: NightlyRun = {
  ...{ nightId: '2023-11-14-0badcafe', date: '2023-11-14', workflowId: 'night', runId: 'run-0badcafe' },
  startedAt: NOW,
};
const LONG_AGO = new Date(Date.now() - 3_600_000);

interface DropNight extends ActivityPlace {
  readonly inputDir: string;
  readonly announced: AnnouncedReport[];
  drop(name: string, text: string): Promise<void>;
  claim(): ReturnType<typeof claimDrops>;
}

/** A real drop folder and a real night book. */
async function night(): Promise<DropNight> {
  const directory = await temporaryDirectory();
  const inputDir = join(directory, 'input');
  await mkdir(inputDir);
  const announced: AnnouncedReport[] = [];
  const place = placeOf({
    over: {
      files: createFileReader({ inputDir, dataDir: join(directory, 'data') }),
      drops: createDropFolder({ inputDir, ledgerId: 'ledger-1', stableMs: 1, pause: () => Promise.resolve() }),
      nights: createRunLog(join(directory, 'reports')),
      runs: runsThatAre('ended'),
      announce: (report) => Promise.resolve(void announced.push(report)),
    },
  });
  return {
    ...{ ...place, inputDir, announced },
    async drop(name, text) {
      await writeFile(join(inputDir, name), text);
      await utimes(join(inputDir, name), LONG_AGO, LONG_AGO);
    },
    claim: () => asActivity(claimDrops, place.deps, { ledgerId: place.deps.ledger.id, night: NIGHT }),
  };
}

function issued(batchId: string): BatchResult {
  return {
    ...{ batchId, file: 'a.csv', state: 'finished', pagesFailed: 0 },
    counts: { rows: 2, invoices: 2, issued: 1, 'already-issued': 1 },
    reports: {
      json: '/r/report.json',
      csv: '/r/report.csv',
      html: '/r/report.html',
      corrections: '/r/corrections.csv',
    },
  };
}

describe('the name of a night', () => {
  it.each([
    ['Europe/Lisbon', Date.UTC(2027, 6, 1, 22, 59), '2027-07-01'],
    ['Europe/Lisbon', Date.UTC(2027, 6, 1, 23), '2027-07-02'],
    ['Europe/Madrid', Date.UTC(2027, 6, 1, 22), '2027-07-02'],
    ['UTC', Date.UTC(2027, 11, 31, 23, 59), '2027-12-31'],
    ['America/New_York', Date.UTC(2028, 0, 1, 4, 59), '2027-12-31'],
  ])('has the date of its own zone: %s', async (timezone, startedAt, date) => {
    const place = placeOf();

    const opened = await openNightlyRun(place.deps, {
      workflowId: 'w',
      runId: '018f-4a7b-12345678',
      startedAt,
      timezone,
    });

    expect(opened).toEqual({
      ledgerId: place.deps.ledger.id,
      night: { nightId: `${date}-12345678`, date, workflowId: 'w', runId: '018f-4a7b-12345678', startedAt },
      patienceMs: 600_000,
    });
  });

  it('is refused to a run whose schedule is gone: nights were switched off before it began', async () => {
    const { deps } = placeOf();
    const runs = { ...deps.runs, isSwitchedOff: () => Promise.resolve(true) };
    const night = { workflowId: 'w', runId: 'r', startedAt: NOW, timezone: 'UTC' };

    await expect(openNightlyRun({ ...deps, runs }, night)).rejects.toMatchObject({ code: 'transition-refused' });
  });

  it('is refused in a zone that is none, with an example', async () => {
    const night = { workflowId: 'w', runId: 'r', startedAt: 0, timezone: 'Lisbon' };

    await expect(openNightlyRun(placeOf().deps, night)).rejects.toMatchObject({
      code: 'configuration-invalid',
      message: 'Dating a night: the time zone must be an IANA name such as Europe/Lisbon, found "Lisbon".',
    });
  });

  it('has the date of the worker’s own zone where none is given', async () => {
    const opened = await openNightlyRun(placeOf().deps, {
      workflowId: 'w',
      runId: 'r',
      startedAt: NOW,
      timezone: null,
    });

    expect(opened.night.date).toMatch(/^2023-11-1[3-5]$/u);
  });
});

describe('the files of a night', () => {
  it('are claimed, each with the batch that its bytes make', async () => {
    const place = await night();
    await place.drop('Fevereiro 2027.csv', 'invoice_ref\nF/1\n');

    const { files, waiting } = await place.claim();

    expect(waiting).toEqual([]);
    expect(files).toEqual([
      {
        ...{ slot: expect.any(String) as string, name: 'Fevereiro 2027.csv', resumed: false },
        file: expect.stringContaining(`in-progress/${NIGHT.nightId}/`) as string,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/u) as string,
        ...{ size: 16, changedAt: expect.closeTo(LONG_AGO.getTime(), 0) as number },
        batchId: expect.stringMatching(/batch-fevereiro-2027-[0-9a-f]{8}$/u) as string,
      },
    ]);
    expect(await readdir(place.inputDir)).not.toContain('Fevereiro 2027.csv');
  });

  it('that wait are named up to 200 for each reason, and the others are counted', async () => {
    const place = await night();
    const names = Array.from({ length: 203 }, (_, at) => `empty-${String(at).padStart(3, '0')}.csv`);
    await Promise.all(names.map((name) => place.drop(name, '')));

    const { waiting } = await place.claim();

    expect(waiting).toHaveLength(200);
    expect(waiting.at(-1)).toEqual({ name: 'empty-199.csv', reason: 'empty', more: 3 });
  });

  it('of the same bytes are the same batch, under whatever name', async () => {
    const place = await night();
    await place.drop('a.csv', 'invoice_ref\nF/1\n');
    await place.drop('b.csv', 'invoice_ref\nF/1\n');

    const { files } = await place.claim();

    expect(new Set(files.map(({ batchId }) => batchId?.slice(-8))).size).toBe(1);
  });

  it('that cannot be read are claimed all the same: their batch will say why', async () => {
    const place = await night();
    await place.drop('a.csv', 'invoice_ref\nF/1\n');
    const hash = (): Promise<string> => Promise.reject(new Error('EIO'));
    const deps = { ...place.deps, files: { ...place.deps.files, hash } };

    const { files } = await asActivity(claimDrops, deps, { ledgerId: deps.ledger.id, night: NIGHT });

    expect(files.map(({ name, batchId }) => [name, batchId])).toEqual([['a.csv', null]]);
    expect(place.logged).toMatchObject([{ level: 'warn', message: 'a dropped file cannot be read' }]);
  });
});

describe('the end of a file', () => {
  async function oneFile(): Promise<DropNight & { file: DroppedFile }> {
    const place = await night();
    await place.drop('a.csv', 'invoice_ref\nF/1\n');
    const [file] = (await place.claim()).files;
    if (file === undefined) throw new Error('The night claimed nothing');
    return { ...place, file };
  }

  it('is its shelf, with a note beside it, and a line of the summary', async () => {
    const place = await oneFile();
    const scope = { ledgerId: place.deps.ledger.id, night: NIGHT, file: place.file };

    const entry = await archiveDrop(place.deps, { ...scope, end: { kind: 'batch', result: issued('batch-a') } });

    expect(entry).toEqual({
      ...{ slot: place.file.slot, name: 'a.csv', shelvedAs: expect.stringMatching(/^archive\//u) as string },
      ...{ verdict: 'issued', sentences: ['Everything went out: 2 invoices.'], known: false, resumed: false },
      ...{
        batchId: 'batch-a',
        invoices: 2,
        issued: 2,
        alreadyIssued: 1,
        report: '/r/report.html',
        corrections: '/r/corrections.csv',
      },
      remarks: [{ kind: 'all-out', n: 2 }],
    });
    const shelf = join(place.inputDir, entry.shelvedAs ?? '', '..');
    const notes = (await readdir(shelf)).filter((name) => name !== 'a.csv');
    expect(notes).toHaveLength(1);
    expect(await readFile(join(shelf, notes[0] ?? ''), 'utf8')).toContain('Everything went out: 2 invoices.');
  });

  it('is the shelf of the refused when its run failed, without a batch', async () => {
    const place = await oneFile();
    const scope = { ledgerId: place.deps.ledger.id, night: NIGHT, file: place.file };

    const entry = await archiveDrop(place.deps, { ...scope, end: { kind: 'failed', code: 'internal', message: 'x' } });

    expect(entry).toMatchObject({
      ...{ verdict: 'failed', batchId: null, invoices: 0, issued: 0, report: null, corrections: null },
      shelvedAs: expect.stringMatching(/^refused\//u) as string,
    });
  });
});

describe('the end of a night', () => {
  it.each([
    ['all is issued', issued('batch-a'), 'issued', 0],
    ['one needs a person', { ...issued('batch-a'), state: 'cancelled' as const }, 'attention', 1],
  ])('is returned to the caller: %s', async (_, result, state, problems) => {
    const place = await night();
    await place.drop('a.csv', 'invoice_ref\nF/1\n');
    const scope = { ledgerId: place.deps.ledger.id, night: NIGHT };
    for (const file of (await place.claim()).files)
      await archiveDrop(place.deps, { ...scope, file, end: { kind: 'batch', result } });

    const finished = await finishNightlyRun(place.deps, { ...scope, waiting: [] });

    expect(finished).toMatchObject({ files: 1, problems });
    expect(place.announced).toEqual([
      { kind: 'night', id: NIGHT.nightId, state, html: finished.reports.html, json: finished.reports.json },
    ]);
    expect(await readFile(finished.reports.html, 'utf8')).toContain('a.csv');
    expect(await readdir(join(place.inputDir, 'in-progress'))).toEqual([]);
  });

  it.each([
    ['not-movable', true],
    ['other-ledger', true],
    ['too-many', true],
    ['unfinished', true],
    // It comes by itself.
    ['growing', false],
  ] as const)(
    'has a summary of a file that waits, and is %s, also without another file; needs attention: %s',
    async (reason, needsAttention) => {
      const place = await night();
      await place.claim();

      const finished = await finishNightlyRun(place.deps, {
        ...{ ledgerId: place.deps.ledger.id, night: NIGHT },
        waiting: [{ name: 'y.csv', reason }],
      });

      expect(finished).toMatchObject({ files: 0, problems: 0 });
      expect(place.announced).toMatchObject(
        needsAttention ? [{ kind: 'night', id: NIGHT.nightId, state: 'attention' }] : [],
      );
      expect(await readFile(finished.reports.json, 'utf8')).toContain('y.csv');
    },
  );

  it.each([
    ['written to after it was read', 'F/2\n', false, ['changed']],
    ['written to, and dropped again', 'F/2\n', true, []],
    ['as it was read', '', false, []],
  ])('names an archived file that is %s', async (_, added, isDroppedAgain, reasons) => {
    const place = await night();
    const { ledger, files, application } = place.deps;
    await place.drop('a.csv', 'invoice_ref\nF/1\n');
    const batch = await place.scenario.run([{ ref: 'one' }]);
    await batch.finish();
    const scope = { ledgerId: ledger.id, night: NIGHT };
    const end = { kind: 'batch', result: issued(batch.batchId) } as const;
    const [file] = (await place.claim()).files;
    const { shelvedAs } = await archiveDrop(place.deps, { ...scope, file: file as DroppedFile, end });
    const path = join(place.inputDir, shelvedAs ?? '');
    await appendFile(path, added);
    if (isDroppedAgain)
      await ledger.claimBatch({
        ...{ batchId: `batch-${randomUUID()}`, application, file: 'a.csv', sha256: await files.hash(path) },
        ...{ workflowId: 'w', runId: 'r', attempt: 1, now: NOW, takeOver: false, order: 'person' },
      });

    const { waiting } = await finishNightlyRun(place.deps, { ...scope, waiting: [] });
    await finishNightlyRun(place.deps, { ...scope, waiting: [] });

    expect(waiting).toEqual(reasons.map((reason) => ({ name: 'archive/2023-11-14/a.csv', reason })));
    const findings = await ledger.fileFindings(batch.batchId);
    expect(findings.map(({ code }) => code)).toEqual(reasons.map(() => 'archived-file-changed'));
  });
});
