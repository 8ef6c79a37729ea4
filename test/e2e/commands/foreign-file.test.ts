import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import { lotePlace } from '../../support/lote/running-lote.ts';

/** Headers of an accounting program, in Portuguese; the last column is not to be sent. */
const HEADER = 'Nº Fatura;NIF emitente;Emitente;Email emitente;Cliente;Moeda;Descrição;Qtd;P. unitário;IVA;Obs';

function exported(refs: readonly string[], header = HEADER): string {
  const rest = header === HEADER ? '' : ';x';
  const rows = refs.map(
    (ref) => `${ref};501964843;Padaria Central;faturas@padaria.example;Ana Reis;EUR;Pão;2;1.234,50;23%;urgente${rest}`,
  );
  return `${[header, ...rows].join('\r\n')}\r\n`;
}

describe('a file with the headers of another program', () => {
  const place = shared(() => lotePlace({ temporal: 'own' }));

  it('is issued with three commands, and the second file of its layout with one', async () => {
    await place.file('erp-2026-11.csv', exported(['FT 1', 'FT 2']));
    const first = 'erp-2026-11.csv';
    const asked = await place.run('run', first);
    const sentBefore = place.sandbox.books().totals.invoices;

    const proposal = await place.run('check', first);
    const saved = await place.run('check', first, '--save-profile', 'erp');
    const issued = await place.run('run', first);
    await place.file('dezembro.csv', exported(['FT 3']));
    const again = await place.run('run', 'dezembro.csv');

    expect(
      [asked, proposal, saved, issued, again].map(({ code }) => code),
      issued.stderr + again.stderr,
    ).toEqual([2, 2, 0, 0, 0]);
    expect(asked.stdout + asked.stderr).toContain('`lote check FILE --save-profile NAME`');
    expect(sentBefore).toBe(0);
    expect(proposal.stdout).toContain('erp-2026-11.csv --save-profile erp');
    expect(proposal.stdout).toMatch(/unit_price.*P\. unitário|P\. unitário.*unit_price/u);
    expect(saved.stdout).toContain('1.234,50');
    expect(place.sandbox.books().totals).toMatchObject({ invoices: 3, issued: 3 });
  });

  it('with a column more is refused by a night, and the note names the command that confirms it', async () => {
    const issuedBefore = place.sandbox.books().totals.invoices;
    await place.file('outro.csv', exported(['FT 4'], `${HEADER};Desconto`));

    const night = await place.run('nightly', 'now');

    const files = await readdir(place.inputDir, { recursive: true });
    const note = files.find((name) => name.endsWith('outro.csv.note.txt')) ?? '';
    const text = await readFile(join(place.inputDir, note), 'utf8');
    expect(text, night.stderr).toContain('"Desconto", whose meaning no person has confirmed');
    expect(text).toContain('`lote check FILE --save-profile NAME`');
    expect(place.sandbox.books().totals.invoices).toBe(issuedBefore);
  });
});
