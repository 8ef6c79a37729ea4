import { describe, expect, it } from 'vitest';
import { messageIdOf, nightMessage, type NightOutcome } from '../../../src/nightly/night-message.ts';
import type { NightlyRunEntry } from '../../../src/domain/records/night.ts';
import { nightEntry } from './drop-place.ts';

const PLACE = { application: 'default', consoleUrl: 'https://lote.example' };

function entry(given: Partial<NightlyRunEntry>): NightlyRunEntry {
  return nightEntry({ invoices: 1_200, issued: 1_200, report: '/r/report.html', ...given });
}

function night(files: readonly NightlyRunEntry[], waiting: NightOutcome['run']['waiting'] = []): NightOutcome {
  const run = { night: '2026-11-23-1a2b3c4d', workflowId: 'w', startedAt: 0, finishedAt: 1, message: null };
  return { date: '2026-11-23', run: { ...run, files, waiting } };
}

const MIXED = night(
  [
    entry({}),
    entry({
      ...{ name: 'june.csv', verdict: 'attention', batchId: 'batch-june-2', invoices: 50, issued: 47 },
      remarks: [{ kind: 'missing', n: 3, of: 50 }, { kind: 'use-corrections' }],
    }),
    entry({
      ...{ name: 'july.csv', verdict: 'attention', batchId: 'batch-july-3', invoices: 9_000, issued: 0 },
      remarks: [{ kind: 'held', difference: 'The total differs.' }],
    }),
    entry({
      ...{ name: 'a,b.csv', verdict: 'refused', batchId: null, invoices: 0, issued: 0 },
      remarks: [{ kind: 'refused' }],
    }),
  ],
  [{ name: 'august.csv', reason: 'growing' }],
);

const ENGLISH = { language: 'en', locale: 'en' } as const;

function english(outcome: NightOutcome) {
  return nightMessage(outcome, ENGLISH, PLACE);
}

describe('the message of a night', () => {
  it('says what went out, and what needs attention, most urgent first, in the words of the page', () => {
    const { subject, text } = english(MIXED);

    expect(subject).toBe('Lote (default), night of Monday, November 23, 2026: 4 of 5 files need a person.');
    expect(text).toBe(
      [
        '4 of 5 files need a person.',
        '1,247 of 10,250 invoices went out.',
        '',
        'What needs a person',
        '',
        '- a,b.csv: Refused: nothing of it was sent. The report says why. Correct the file and drop it again.',
        '- june.csv: 3 of 50 invoices are not confirmed as issued. Correct the rows in the corrections file and drop that file; the report says why each of them is not confirmed as issued.',
        '  https://lote.example/batches/batch-june-2',
        '- july.csv: Held: nothing of it was sent. The total differs.',
        '  https://lote.example/batches/batch-july-3',
        '',
        'Still waiting',
        '',
        '- august.csv: It was still being written. The next night looks again.',
        '',
        'The page of the night: https://lote.example/nights/2026-11-23',
        '',
      ].join('\n'),
    );
  });

  it.each([
    ['pt', 'pt-PT', 'segunda-feira, 23 de novembro de 2026', '1 247 de 10 250 faturas foram emitidas.'],
    ['es', 'es-ES', 'lunes, 23 de noviembre de 2026', 'Se emitieron 1.247 de 10.250 facturas.'],
    ['pt', 'pt-BR', 'segunda-feira, 23 de novembro de 2026', '1.247 de 10.250 faturas foram emitidas.'],
  ] as const)('in %s with the locale %s has its words, dates and numbers', (language, locale, date, count) => {
    const { subject, text } = nightMessage(MIXED, { language, locale }, PLACE);

    expect(subject).toContain(date);
    expect(text.replaceAll(/[\u00A0\u202F]/gu, ' ')).toContain(count);
  });

  it('says how many of them an earlier file had issued', () => {
    const outcome = night([entry({}), entry({ name: 'all.csv', batchId: 'batch-all-2', alreadyIssued: 1_200 })]);

    expect(english(outcome).text).toContain('2,400 of 2,400 invoices went out, 1,200 of them by an earlier file.');
  });

  it('is short when everything went out, and when nothing was dropped', () => {
    const place = { application: 'default', consoleUrl: null };
    const text = (files: readonly NightlyRunEntry[]): string => nightMessage(night(files), ENGLISH, place).text;
    expect(text([entry({})])).toBe('Everything went out: 1 file.\n1,200 of 1,200 invoices went out.\n');
    expect(text([])).toContain('No file was dropped.');
  });

  it('lists fifty files', () => {
    const files = Array.from({ length: 52 }, () => entry({ verdict: 'failed', batchId: null }));
    const { text } = english(night(files));

    expect(text.match(/^- /gmu)).toHaveLength(50);
    expect(text).toContain('2 more are on the page of the night.');
  });

  it('counts the files that wait and are not named', () => {
    const waiting = Array.from({ length: 200 }, (_, at) => ({
      ...{ name: 'x.csv', reason: 'too-many' as const },
      ...(at === 199 ? { more: 29_600 } : {}),
    }));
    const run = { ...MIXED.run, waiting, files: [] };

    const { subject, text } = english({ ...MIXED, run });

    expect(subject).toContain('29,800 of 29,800 files');
    expect(text).toContain('29,750 more are on the page of the night.');
  });

  it('says of a file that was written to after it was read to drop it again', () => {
    const changed = { name: 'archive/2026-11-22/a.csv', reason: 'changed' as const };
    const run = { ...MIXED.run, waiting: [changed], files: [] };
    const { text } = english({ ...MIXED, run });

    expect(text).toContain('archive/2026-11-22/a.csv: It was written to after it was read');
    expect(text).not.toContain('not confirmed');
  });

  it('has an id of its own for each night, the same each time', () => {
    const id = '<night-default-2026-11-23-1a2b3c4d-email@lote.example>';
    expect(messageIdOf('Lote <lote@lote.example>', PLACE, MIXED)).toBe(id);
  });
});
