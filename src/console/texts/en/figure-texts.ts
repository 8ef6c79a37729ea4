import type { FigureTexts } from '../figure-texts.ts';

/** English words of pictures. */
export const FIGURE_TEXTS_EN: FigureTexts = {
  figures: {
    title: 'Figures',
    note: 'The last {n} nights, by the day on which each file was read, as its last report says.',
    none: 'No report of these nights yet.',
    without: {
      one: '{n} batch is not in the pictures: it has no report yet, or one of an older Lote.',
      other: '{n} batches are not in the pictures: they have no report yet, or one of an older Lote.',
    },
    cut: 'There were more batches than are looked at here: the oldest nights are not whole.',
    outcomes: 'Invoices',
    fates: {
      issued: 'went out',
      failed: 'failed or refused',
      notSent: 'not sent',
      open: 'without a final word',
      before: 'issued by another file',
    },
    amount: 'Net amount in {currency}, without tax',
    money: { out: 'went out', left: 'not confirmed as issued', before: 'issued by another file' },
    below: 'Sums below zero are not drawn; the table has them.',
    settling: 'From the first POST to the final word',
    median: 'half of the invoices within',
    most: '95 of 100 within',
    upTo: 'up to {value}',
    reasons: 'Why invoices are not confirmed as issued',
    otherReasons: 'other reasons',
    table: 'The nights as a table',
    reasonTable: 'The reasons as a table',
  },
  pace: {
    title: 'Sent and settled so far',
    sent: 'sent',
    settled: 'settled',
    rate: '{n} settled a second in the last minute.',
    left: 'About {time} left.',
    notMoving: 'Nothing was settled in the last minute, so nobody can say how long it takes.',
    unknown: 'How fast it goes is not yet known: it is measured over a minute while somebody looks.',
    table: 'The line as a table',
    note: 'The line begins with the file; between, it is what this console saw while somebody looked.',
  },
};
