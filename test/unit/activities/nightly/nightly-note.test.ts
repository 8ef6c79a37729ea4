import { describe, expect, it } from 'vitest';
import { nightlyNote, type NoteRequest } from '../../../../activities/nightly/nightly-note.ts';
import { issuedCount } from '../../../../src/domain/outcome-counts.ts';
import type { BatchResult } from '../../../../src/domain/messages/messages.ts';
import { chooseLanguage, ENGLISH } from '../../../../src/texts/languages.ts';
import type { BatchRecord } from '../../../../src/domain/records/batch-record.ts';

const NIGHT = { nightId: '2027-01-15-0badcafe', startedAt: Date.UTC(2027, 0, 15, 2) };
const REPORTS = { json: '/r/report.json', csv: '/r/report.csv', html: '/r/report.html', corrections: null };
const RESULT: BatchResult = {
  ...{ batchId: 'batch-a-12345678', file: 'a.csv', state: 'finished', reports: REPORTS, pagesFailed: 0 },
  counts: { rows: 3, invoices: 3, issued: 3 },
};

function ended(over: Partial<BatchResult> = {}): NoteRequest['end'] {
  return { kind: 'batch', result: { ...RESULT, ...over } };
}

function startedAt(time: number): BatchRecord {
  return { file: 'first.csv', startedAt: time } as BatchRecord;
}

function note({ end = ended(), ...over }: Partial<NoteRequest> = {}) {
  const file = { name: 'a.csv', resumed: false };
  const { invoices = 0, ...counts } = end.kind === 'batch' ? end.result.counts : {};
  const figures = { invoices, issued: issuedCount(counts) };
  return nightlyNote({ file, end, figures, batch: null, stopped: null, night: NIGHT, speech: ENGLISH, ...over });
}

describe('the verdict on a dropped file', () => {
  it.each([
    ['everything went out', { issued: 3 }, 'issued'],
    ['everything had gone out before', { 'already-issued': 3 }, 'issued'],
    ['one failed', { issued: 2, failed: 1 }, 'attention'],
    ['a row is in no invoice', { issued: 3, rowsWithoutInvoice: 1, rowsLost: 1 }, 'attention'],
    ['only a totals row is in no invoice', { issued: 3, rowsWithoutInvoice: 1, rowsLost: 0 }, 'issued'],
    ['a row beside a totals row is lost', { issued: 3, rowsWithoutInvoice: 2, rowsLost: 1 }, 'attention'],
    ['one of those that went out is in doubt', { issued: 3, contradicted: 1 }, 'attention'],
  ] as const)('%s: %j: %s, in the archive', (_, counts, verdict) => {
    expect(note({ end: ended({ counts: { invoices: 3, ...counts } }) })).toMatchObject({
      ...{ verdict, destination: 'archive' },
    });
  });

  const other = { counts: { invoices: 3, 'already-issued': 3 }, totalsDiffer: 'expected 4 invoices, found 3' };
  it.each([
    ['it differs from declared control totals', ended(other), 'attention', 'archive'],
    ['it was cancelled', ended({ state: 'cancelled' }), 'attention', 'archive'],
    ['it was refused', ended({ state: 'refused', counts: { rows: 3 } }), 'refused', 'refused'],
    ['its run failed', { kind: 'failed', code: 'internal', message: 'x' }, 'failed', 'refused'],
  ] as const)('%s: %s', (_, end, verdict, destination) => {
    expect(note({ end })).toMatchObject({ verdict, destination });
  });
});

describe('what a person reads beside a file', () => {
  it('that has lost rows, and of whose invoices none is missing', () => {
    const end = ended({ counts: { invoices: 3, issued: 3, rowsWithoutInvoice: 2, rowsLost: 1 } });

    expect(note({ end }).sentences[0]).toBe('1 row belongs to no invoice.');
  });

  it('with the references of what is in doubt, which no remark has', () => {
    const end = ended({ counts: { invoices: 3, issued: 3, contradicted: 1 } });

    const { remarks, text } = note({ end, contradictedRefs: ['FT 2026/7'] });

    expect(remarks).toEqual([{ kind: 'contradicted', n: 1 }, { kind: 'read-report' }]);
    expect(text).toContain('1 invoice went out and is in doubt: it may exist twice at the service');
    expect(text).toMatch(/^In doubt\s+FT 2026\/7$/mu);
    expect(text).not.toContain('Everything went out');
  });

  it('with the name of the file on one line', () => {
    const { text } = note({ file: { name: 'a\nclaim: x/1\n.csv', resumed: false } });

    expect(text).toContain('a claim: x/1 .csv');
  });

  it('of which everything went out', () => {
    expect(note().text).toBe(
      [
        'File         a.csv',
        'Night        2027-01-15-0badcafe',
        'Batch        batch-a-12345678',
        '',
        'Everything went out: 3 invoices.',
        '',
        'Report       /r/report.html',
      ].join('\n'),
    );
  });

  it('of which some rows must be corrected', () => {
    const counts = { invoices: 5, issued: 1, 'already-issued': 1, invalid: 3, rowsWithoutInvoice: 2, rowsLost: 2 };
    const end = ended({ counts, reports: { ...REPORTS, corrections: '/r/corrections.csv' } });

    expect(note({ end }).text.split('\n').slice(4)).toEqual([
      '3 of 5 invoices are not confirmed as issued.',
      '2 rows belong to no invoice.',
      'Correct the rows in the corrections file and drop that file; the report says why each of them is not confirmed as issued.',
      '',
      'Report       /r/report.html',
      'Corrections  /r/corrections.csv',
    ]);
  });

  it.each([
    [
      'some have to wait',
      ended({ counts: { invoices: 2, issued: 1, held: 1 } }),
      ['1 of 2 invoices is not confirmed as issued.', 'The report says of each what to do next.'],
    ],
    [
      'nothing could be read',
      ended({ state: 'refused', counts: {} }),
      ['Refused: nothing of it was sent. The report says why. Correct the file and drop it again.'],
    ],
    [
      'the run ended without a result',
      { kind: 'failed', code: 'ledger-foreign', message: 'This work belongs to another ledger.' },
      [
        'Its run ended without a result (ledger-foreign): This work belongs to another ledger.',
        'What it had sent is in the ledger. Drop the file again: it goes on where it stopped, and nothing is sent twice.',
      ],
    ],
  ] as const)('of which %s', (_, end, sentences) => {
    expect(note({ end }).sentences).toEqual(sentences);
  });

  it.each([
    [
      'cancelled',
      ended({ state: 'cancelled', counts: { invoices: 2, held: 2 } }),
      { what: 'cancelled', who: 'maria', why: 'the wrong file' },
      [
        'Stopped on 2027-01-15 02:00 UTC: cancelled, by maria (the wrong file).',
        'No night and no reconciliation sends more of it. A person continues it with lote run a.csv, lote retry batch-a-12345678.',
        '2 of 2 invoices are not confirmed as issued.',
        'The report says of each what to do next.',
      ],
    ],
    [
      'terminated while it was read',
      ended({ state: 'refused', counts: {} }),
      { what: 'terminated', who: null, why: null },
      [
        'Stopped on 2027-01-15 02:00 UTC: its run was terminated in Temporal, by an unnamed operator (no reason given).',
        'No night and no reconciliation sends more of it. A person continues it with lote run a.csv.',
      ],
    ],
    [
      'terminated in this night',
      { kind: 'failed', code: 'TerminatedFailure', message: 'The run was stopped from outside.' },
      { what: 'terminated', who: 'maria', why: 'stop' },
      [
        'Its run ended without a result (TerminatedFailure): The run was stopped from outside.',
        'Stopped on 2027-01-15 02:00 UTC: its run was terminated in Temporal, by maria (stop).',
        'No night and no reconciliation sends more of it. A person continues it with lote run a.csv.',
      ],
    ],
  ] as const)('that a person stopped: %s', (_, end, stop, sentences) => {
    expect(note({ end, stopped: { ...stop, at: NIGHT.startedAt } }).sentences).toEqual(sentences);
  });

  it('names no report of a run that left none', () => {
    const { text } = note({ end: { kind: 'failed', code: 'internal', message: 'x' } });

    expect(text).toContain('Batch        none');
    expect(text).not.toContain('Report');
  });

  it('in the language of the installation, with its numbers and times, while programs read English', () => {
    const counts = { invoices: 12_000, issued: 11_998, rowsWithoutInvoice: 1, rowsLost: 1 };
    const batch = startedAt(NIGHT.startedAt - 86_400_000);

    const { text, sentences } = note({ end: ended({ counts }), batch, speech: chooseLanguage('pt-PT') });

    expect(text.replaceAll(/[\u00A0\u202F]/gu, ' ').split('\n')).toEqual([
      'Ficheiro     a.csv',
      'Noite        2027-01-15-0badcafe',
      'Lote         batch-a-12345678',
      '',
      'Os mesmos bytes já tinham sido depositados, em 14/01/2027, 02:00 UTC, como first.csv: é o mesmo lote, e nada do que foi enviado volta a ser enviado.',
      '2 de 12 000 faturas estão sem emissão confirmada.',
      '1 linha não pertence a nenhuma fatura.',
      'O relatório diz, para cada uma, o que fazer a seguir.',
      '',
      'Relatório    /r/report.html',
    ]);
    expect(sentences.slice(1)).toEqual([
      '2 of 12\u202F000 invoices are not confirmed as issued.',
      '1 row belongs to no invoice.',
      'The report says of each what to do next.',
    ]);
  });

  it.each([
    [1, '2 of 3 invoices are not confirmed as issued.'],
    [3, null],
  ])('whose batch is paused while %i of 3 have gone out', (issued, missing) => {
    const { verdict, destination, sentences, text } = note({
      ...{ end: { kind: 'paused', batchId: 'batch-a-12345678' }, figures: { invoices: 3, issued } },
    });

    expect([verdict, destination]).toEqual(['attention', 'archive']);
    expect(sentences[0]).toContain('nothing more of it is sent until a person resumes it');
    expect(sentences.slice(1)).toEqual(missing === null ? [] : [missing]);
    expect(text).toContain('Batch        batch-a-12345678');
  });

  it('that an interrupted night had claimed', () => {
    expect(note({ file: { name: 'a.csv', resumed: true } }).sentences).toEqual([
      'An earlier night had claimed it and was interrupted; this night has taken it over.',
      'Everything went out: 3 invoices.',
    ]);
  });
});

describe('bytes that were dropped before', () => {
  const BEFORE = NIGHT.startedAt - 86_400_000;

  it('are said to be the same batch, with the day and the name of then', () => {
    const known = note({ batch: startedAt(BEFORE) });

    expect(known.known).toBe(true);
    expect(known.sentences[0]).toBe(
      'The same bytes were dropped before, on 2027-01-14 02:00 UTC as first.csv: it is the same batch, and nothing that was sent is sent again.',
    );
  });

  it.each([
    ['the batch began in this night', { batch: startedAt(NIGHT.startedAt) }],
    ['there is no batch', { batch: null }],
    ['an interrupted earlier night began it', { batch: startedAt(BEFORE), file: { name: 'a.csv', resumed: true } }],
  ])('are not spoken of when %s', (_, over) => {
    expect(note(over).known).toBe(false);
    expect(note(over).text).not.toContain('same bytes');
  });
});
