import { describe, expect, it } from 'vitest';
import { NIGHT_TEXTS } from '../../../src/texts/nights/night-verdict.ts';
import { messageIdOf, nightMessage } from '../../../src/nightly/night-message.ts';
import type { NightlyRunEntry } from '../../../src/domain/records/night.ts';
import type { NightOutcome } from '../../../activities/deps.ts';
import { nightEntry } from './drop-place.ts';

const PLACE = { application: 'default', consoleUrl: 'https://lote.example' };

function entry(given: Partial<NightlyRunEntry>): NightlyRunEntry {
  return nightEntry({ invoices: 1_200, issued: 1_200, report: '/r/report.html', ...given });
}

function night(files: readonly NightlyRunEntry[], waiting: NightOutcome['run']['waiting'] = []): NightOutcome {
  const run = { night: '2026-11-23-1a2b3c4d', workflowId: 'w', startedAt: 0, finishedAt: 1, messages: [] };
  return { date: '2026-11-23', run: { ...run, files, waiting } };
}

const MIXED = night(
  [
    entry({}),
    entry({
      ...{ name: 'june.csv', verdict: 'attention', batchId: 'batch-june-2', invoices: 50, issued: 47 },
      corrections: '/r/corrections.csv',
    }),
    entry({
      ...{ name: 'july.csv', verdict: 'attention', batchId: 'batch-july-3', invoices: 9_000, issued: 0 },
      waitsFor: 'total-unusual',
    }),
    entry({ name: 'a,b.csv', verdict: 'refused', batchId: null, invoices: 0, issued: 0 }),
  ],
  [{ name: 'august.csv', reason: 'growing' }],
);

const ENGLISH = { language: 'en', locale: 'en' } as const;

function english(outcome: NightOutcome) {
  return nightMessage(outcome, ENGLISH, PLACE);
}

describe('the message of a night', () => {
  it('says what went out, what needs attention, most urgent first, and what to do', () => {
    const { subject, text } = english(MIXED);

    expect(subject).toBe('Lote (default), night of Monday, November 23, 2026: 4 of 5 files need a person.');
    expect(text).toBe(
      [
        '4 of 5 files need a person.',
        '1,247 of 10,250 invoices went out.',
        '',
        'What needs a person',
        '',
        '- a,b.csv: refused. Nothing of it was sent. Read the report, correct the file, and drop it again.',
        '- june.csv: 3 of 50 invoices are not confirmed as issued. Read the report. Correct the rows in the corrections file, and drop that file.',
        '  https://lote.example/batches/batch-june-2',
        '- july.csv: Held before anything was sent: its total is unusual. Open the batch to confirm or cancel it.',
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

  it('says of a paused file what has gone out, and that an operator must resume it', () => {
    const paused = entry({ name: 'a.csv', verdict: 'attention', invoices: 9, issued: 4, waitsFor: 'resume' });

    const { subject, text } = english(night([entry({}), paused]));

    expect(subject).toContain('1 of 2 files needs a person.');
    expect(text).toContain(
      '- a.csv: 5 of 9 invoices are not confirmed as issued. Paused by an operator: nothing more of it is sent, and the night did not wait for it. Open the batch to resume or cancel it.',
    );
  });

  it.each([
    [
      [{ kind: 'rows-without-invoice', n: 2 } as const],
      'a.csv: 2 rows belong to no invoice. Read the report: it says what to do next.',
    ],
    [[], 'a.csv: needs a person. Read the report: it says what to do next.'],
  ])('does not call none of the invoices missing where something else is wrong: %j', (remarks, words) => {
    const outcome = night([entry({ name: 'a.csv', verdict: 'attention', invoices: 3, issued: 3, remarks })]);

    const { text } = english(outcome);

    expect(text).toContain(words);
    expect(text).not.toContain('0 of 3');
  });

  it.each([
    [
      'en',
      '1 invoice went out and is in doubt: it may exist twice at the service, or have failed there. Look it up at the service, and do not send it again.',
      '2 invoices went out and are in doubt: each may exist twice at the service, or have failed there. Look them up at the service, and do not send them again.',
      ['1 row belongs to no invoice.', '1 of 4 invoices is not confirmed as issued.'],
    ],
    [
      'pt',
      '1 fatura foi emitida, mas está em dúvida: pode existir duas vezes no serviço, ou ter lá falhado. Confirme-a no serviço e não a envie de novo.',
      '2 faturas foram emitidas, mas estão em dúvida: cada uma pode existir duas vezes no serviço, ou ter lá falhado. Confirme-as no serviço e não as envie de novo.',
      ['1 linha não pertence a nenhuma fatura.', '1 de 4 faturas está sem emissão confirmada.'],
    ],
    [
      'es',
      '1 factura se emitió, pero está en duda: puede existir dos veces en el servicio, o haber fallado allí. Compruébela en el servicio y no la envíe de nuevo.',
      '2 facturas se emitieron, pero están en duda: cada una puede existir dos veces en el servicio, o haber fallado allí. Compruébelas en el servicio y no las envíe de nuevo.',
      ['1 fila no pertenece a ninguna factura.', '1 de 4 facturas está sin emisión confirmada.'],
    ],
  ] as const)('in %s says first of invoices in doubt that nobody may send them again', (language, one, two, more) => {
    const file = { verdict: 'attention', invoices: 4, issued: 4 } as const;
    const doubts = { kind: 'contradicted', n: 2 } as const;
    const outcome = night([
      entry({ ...file, name: 'a.csv', remarks: [{ kind: 'contradicted', n: 1 }, { kind: 'read-report' }] }),
      entry({
        ...{ ...file, name: 'b.csv', corrections: '/r/corrections.csv' },
        remarks: [doubts, { kind: 'rows-without-invoice', n: 1 }, { kind: 'use-corrections' }],
      }),
      entry({
        ...{ ...file, name: 'c.csv', issued: 3 },
        remarks: [doubts, { kind: 'missing', n: 1, of: 4 }, { kind: 'read-report' }],
      }),
    ]);

    const { text } = nightMessage(outcome, { language, locale: language }, PLACE);

    const { morning } = NIGHT_TEXTS[language];
    expect(text).toContain(`a.csv: ${one} ${morning.readReport}\n`);
    expect(text).toContain(`b.csv: ${two} ${more[0]} ${morning.toDo.attention}\n`);
    expect(text).toContain(`c.csv: ${two} ${more[1]} ${morning.readReport}\n`);
  });

  it.each([
    ['en', 'Read the report: it says what to do next.', /correct/iu],
    ['pt', 'Leia o relatório: diz o que fazer a seguir.', /corri[gj]|correç/iu],
    ['es', 'Lea el informe: dice qué hacer ahora.', /corri[gj]|correc/iu],
  ] as const)(
    'in %s does not ask to correct what has no corrections file, as unknown invoices',
    (language, words, any) => {
      const outcome = night([entry({ verdict: 'attention', invoices: 50, issued: 47 })]);

      const { text } = nightMessage(outcome, { language, locale: language }, PLACE);

      expect(text).toContain(words);
      expect(text).not.toMatch(any);
    },
  );

  it.each([
    ['pt', 'pt-PT', 'segunda-feira, 23 de novembro de 2026', '1 247 de 10 250 faturas foram emitidas.'],
    ['es', 'es-ES', 'lunes, 23 de noviembre de 2026', 'Se emitieron 1.247 de 10.250 facturas.'],
    ['pt', 'pt-BR', 'segunda-feira, 23 de novembro de 2026', '1.247 de 10.250 faturas foram emitidas.'],
  ] as const)('in %s with the locale %s has its words, dates and numbers', (language, locale, date, count) => {
    const { subject, text, html } = nightMessage(MIXED, { language, locale }, PLACE);

    expect(subject).toContain(date);
    expect(text.replaceAll(/[\u00A0\u202F]/gu, ' ')).toContain(count);
    expect(html).toContain(`<html lang="${language}">`);
  });

  it.each([
    ['en', 'en', '2,400 of 2,400 invoices went out, 1,200 of them by an earlier file.'],
    ['pt', 'pt-PT', '2 400 de 2 400 faturas foram emitidas, 1 200 das quais por um ficheiro anterior.'],
    ['es', 'es-ES', 'Se emitieron 2.400 de 2.400 facturas, 1.200 de ellas por un archivo anterior.'],
  ] as const)('in %s says how many of them an earlier file had issued', (language, locale, words) => {
    const outcome = night([entry({}), entry({ name: 'all.csv', batchId: 'batch-all-2', alreadyIssued: 1_200 })]);

    const { text } = nightMessage(outcome, { language, locale }, PLACE);

    expect(text.replaceAll(/[\u00A0\u202F]/gu, ' ')).toContain(words);
  });

  it('is short when everything went out, and when nothing was dropped', () => {
    const place = { application: 'default', consoleUrl: null };
    const text = (files: readonly NightlyRunEntry[]): string => nightMessage(night(files), ENGLISH, place).text;
    expect(text([entry({})])).toBe('Everything went out: 1 file.\n1,200 of 1,200 invoices went out.\n');
    expect(text([])).toContain('No file was dropped.');
  });

  it('takes the name of a file for text, in HTML too, and lists fifty of them', () => {
    const files = Array.from({ length: 52 }, () =>
      entry({ name: '<img src=x>.csv', verdict: 'failed', batchId: null }),
    );
    const { html, text } = english(night(files));

    expect(html).toContain('&lt;img src=x&gt;.csv');
    expect(html).not.toContain('<img');
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
    expect(messageIdOf('email', PLACE, MIXED)).toBe('night-default-2026-11-23-1a2b3c4d-email');
  });
});
