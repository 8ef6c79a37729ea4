import { describe, expect, it } from 'vitest';
import type { NightlyRunEntry } from '../../../../src/domain/ports/run-log.ts';
import type { NightOutcome } from '../../../../src/domain/ports/night-messages.ts';
import { NIGHT_TEXTS } from '../../../../src/texts/nights/night-catalogue.ts';
import { messageIdOf, nightMessage } from '../../../../src/wiring/notification/night-message.ts';

const PLACE = { application: 'default', isOneOfSeveral: false, consoleUrl: 'https://lote.example' };

function entry(over: Partial<NightlyRunEntry>): NightlyRunEntry {
  return {
    ...{ slot: '1', name: 'may.csv', shelvedAs: 'archive/2026-11-23/may.csv', verdict: 'issued', sentences: [] },
    ...{ known: false, resumed: false, batchId: 'batch-may-1', invoices: 1_200, issued: 1_200 },
    ...{ report: '/r/report.html', corrections: null },
    ...over,
  };
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
      name: 'july.csv',
      verdict: 'attention',
      batchId: 'batch-july-3',
      invoices: 9_000,
      issued: 0,
      waitsFor: 'total-unusual',
    }),
    entry({ name: 'a,b.csv', verdict: 'refused', batchId: null, invoices: 0, issued: 0 }),
  ],
  [{ name: 'august.csv', reason: 'growing' }],
);

describe('the message of a night', () => {
  it('says what went out, what needs somebody, most urgent first, and what to do', () => {
    const { subject, text } = nightMessage(MIXED, { language: 'en', locale: 'en' }, PLACE);

    expect(subject).toBe('Lote (default), night of Monday, November 23, 2026: 4 of 5 files need somebody.');
    expect(text).toBe(
      [
        '4 of 5 files need somebody.',
        '1,247 of 10,250 invoices went out.',
        '',
        'What needs somebody',
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

  it('says of a paused file what has gone out, and that somebody must resume it', () => {
    const paused = entry({ name: 'a.csv', verdict: 'attention', invoices: 9, issued: 4, waitsFor: 'resume' });

    const { subject, text, data } = nightMessage(night([entry({}), paused]), { language: 'en', locale: 'en' }, PLACE);

    expect(subject).toContain('1 of 2 files needs somebody.');
    expect(text).toContain(
      '- a.csv: 5 of 9 invoices are not confirmed as issued. Paused by an operator: nothing more of it is sent, and the night did not wait for it. Open the batch to resume or cancel it.',
    );
    expect(data['files']).toContainEqual(expect.objectContaining({ name: 'a.csv', waitsFor: 'resume' }));
  });

  it.each([
    [
      [{ kind: 'rows-without-invoice', n: 2 } as const],
      'a.csv: 2 rows belong to no invoice. Read the report: it says what to do next.',
    ],
    [[], 'a.csv: needs somebody. Read the report: it says what to do next.'],
  ])('does not call none of the invoices missing where something else is wrong: %j', (remarks, words) => {
    const outcome = night([entry({ name: 'a.csv', verdict: 'attention', invoices: 3, issued: 3, remarks })]);

    const { text } = nightMessage(outcome, { language: 'en', locale: 'en' }, PLACE);

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
        remarks: [doubts, { kind: 'missing', n: 1, of: 4, cancelled: false }, { kind: 'read-report' }],
      }),
      entry({ ...file, name: 'd.csv', remarks: [{ kind: 'changed' }, doubts, { kind: 'read-report' }] }),
    ]);

    const { text } = nightMessage(outcome, { language, locale: language }, PLACE);

    const { morning, remarks } = NIGHT_TEXTS[language];
    expect(text).toContain(`a.csv: ${one} ${morning.readReport}\n`);
    expect(text).toContain(`b.csv: ${two} ${more[0]} ${morning.toDo.attention}\n`);
    expect(text).toContain(`c.csv: ${two} ${more[1]} ${morning.readReport}\n`);
    expect(text).toContain(`d.csv: ${two} ${remarks.changed}\n`);
  });

  it.each([
    ['en', 'Read the report: it says what to do next.', /correct/iu],
    ['pt', 'Leia o relatório: diz o que fazer a seguir.', /corri[gj]|correç/iu],
    ['es', 'Lea el informe: dice qué hacer ahora.', /corri[gj]|correc/iu],
  ] as const)(
    'in %s tells nobody to correct what has no corrections file, as unknown invoices',
    (language, words, any) => {
      const outcome = night([entry({ verdict: 'attention', invoices: 50, issued: 47 })]);

      const { text } = nightMessage(outcome, { language, locale: language }, PLACE);

      expect(text).toContain(words);
      expect(text).not.toMatch(any);
    },
  );

  it('links the night of its own application where there are several', () => {
    const place = { ...PLACE, application: 'loja a', isOneOfSeveral: true };
    const { text, data } = nightMessage(MIXED, { language: 'en', locale: 'en' }, place);

    expect(text).toContain('https://lote.example/nights/2026-11-23?application=loja%20a\n');
    expect(data['page']).toBe('https://lote.example/nights/2026-11-23?application=loja%20a');
  });

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

    const { text, data } = nightMessage(outcome, { language, locale }, PLACE);

    expect(text.replaceAll(/[\u00A0\u202F]/gu, ' ')).toContain(words);
    expect(data).toMatchObject({ issued: 2_400, alreadyIssued: 1_200 });
    expect(data['files']).toMatchObject([{ alreadyIssued: 0 }, { name: 'all.csv', alreadyIssued: 1_200 }]);
  });

  it('counts a batch once whose file was dropped under two names', () => {
    const outcome = night([
      entry({ invoices: 10, issued: 10 }),
      entry({ name: 'again.csv', invoices: 10, issued: 10, alreadyIssued: 2 }),
    ]);

    const { text, data } = nightMessage(outcome, { language: 'en', locale: 'en' }, PLACE);

    expect(text).toBe(
      'Everything went out: 2 files.\n10 of 10 invoices went out.\n\nThe page of the night: https://lote.example/nights/2026-11-23\n',
    );
    expect(data).toMatchObject({ invoices: 10, issued: 10, alreadyIssued: 0 });
  });

  it('is short when everything went out, and when nothing was dropped', () => {
    const speech = { language: 'en', locale: 'en' } as const;
    const place = { application: 'default', isOneOfSeveral: false, consoleUrl: null };
    expect(nightMessage(night([entry({})]), speech, place).text).toBe(
      'Everything went out: 1 file.\n1,200 of 1,200 invoices went out.\n',
    );
    expect(nightMessage(night([]), speech, place).text).toContain('No file was dropped.');
  });

  it('takes the name of a file for text, in HTML too, and lists fifty of them', () => {
    const files = Array.from({ length: 52 }, () =>
      entry({ name: '<img src=x>.csv', verdict: 'failed', batchId: null }),
    );
    const { html, text } = nightMessage(night(files), { language: 'en', locale: 'en' }, PLACE);

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

    const { subject, text, data } = nightMessage({ ...MIXED, run }, { language: 'en', locale: 'en' }, PLACE);

    expect(subject).toContain('29,800 of 29,800 files');
    expect(text).toContain('29,750 more are on the page of the night.');
    expect(data).toMatchObject({ waiting });
  });

  it('says of a file that was written to after it was read to drop it again', () => {
    const files = [entry({ verdict: 'attention', remarks: [{ kind: 'changed' }] })];
    const { text } = nightMessage(night(files), { language: 'en', locale: 'en' }, PLACE);

    expect(text).toContain('It was written to after it was read');
    expect(text).not.toContain('not confirmed');
  });

  it('shows a name with line ends on one line', () => {
    const files = [entry({ name: 'a\r\n- b.csv', verdict: 'failed', batchId: null })];
    const { text } = nightMessage(night(files), { language: 'en', locale: 'en' }, PLACE);

    expect(text).toContain('- a - b.csv: run failed.');
  });

  it('has an id of its own for each night and way, the same each time', () => {
    expect(messageIdOf('email', PLACE, MIXED)).toBe('night-default-2026-11-23-1a2b3c4d-email');
    expect(messageIdOf('webhook', PLACE, MIXED)).toBe('night-default-2026-11-23-1a2b3c4d-webhook');
  });
});
