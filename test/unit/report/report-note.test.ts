import { describe, expect, it } from 'vitest';
import { deliveryNotes } from '../../../src/report/report-model.ts';
import { englishNote, noteText, reportFormat } from '../../../src/report/texts/report-format.ts';

describe('deliveryNotes', () => {
  it('says nothing when nothing is wrong', () => {
    expect(deliveryNotes({ unreadable: 0, unknownIds: 0 })).toEqual([]);
  });

  it('alerts of what could not be read and of unknown invoices', () => {
    const notes = deliveryNotes({ unreadable: 1, unknownIds: 12 }).map(englishNote);

    expect(notes).toHaveLength(2);
    expect(notes[0]).toMatch(/^Alert: 1 webhook with a right signature could not be read/);
    expect(notes[1]).toMatch(
      /^Alert: 12 webhooks since this batch began told of invoices that this ledger does not know/,
    );
  });

  it.each([
    ['pt', 'Alerta: desde que este lote começou, 2 webhooks com assinatura correta não puderam ser lidos.'],
    ['es', 'Alerta: desde que empezó este lote, 2 webhooks con firma correcta no se pudieron leer.'],
  ] as const)('alerts in %s, too', (language, expected) => {
    const [note] = deliveryNotes({ unreadable: 2, unknownIds: 0 });

    expect(noteText(reportFormat({ language, locale: language }), note ?? expect.fail('no note'))).toContain(expected);
  });
});
