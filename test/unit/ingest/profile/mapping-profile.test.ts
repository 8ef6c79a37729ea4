import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import iconv from 'iconv-lite';
import { afterAll, describe, expect, it } from 'vitest';
import { chooseProfile, readAsInHead } from '../../../../src/ingest/profile/choose-profile.ts';
import { parseProfile, requireProfileName } from '../../../../src/ingest/profile/mapping-profile.ts';
import { confirmedOptions } from '../../../support/files/confirmed-layout.ts';
import { HEADER, csvRow, ingestedText, temporaryFile, removeTemporaryFiles } from '../ingested.ts';

afterAll(removeTemporaryFiles);

const EXAMPLE = new URL('../../../../input/profiles/loja-exemplo.json', import.meta.url);

function profile(content: unknown) {
  return parseProfile('erp', Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)));
}

function profilesDirectory(profiles: Readonly<Record<string, unknown>>): string {
  const directory = join(dirname(temporaryFile('')), 'profiles');
  mkdirSync(directory);
  for (const [name, content] of Object.entries(profiles))
    writeFileSync(join(directory, `${name}.json`), JSON.stringify(content));
  return directory;
}

describe('parseProfile', () => {
  it('takes everything a profile may say, and hashes its bytes', () => {
    const said = { decimal: ',', encoding: 'cp850', taxCodes: { '23': 'IVA_23' }, columns: { unit_price: 'PVP' } };
    const read = profile(said);

    expect(read.options).toEqual(said);
    expect(read.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(profile({}).options).toEqual({});
  });

  it.each([
    ['no JSON', '{', /expected JSON/],
    ['another shape', '[]', /the profile: /],
    ['a member it does not know', { decimals: ',' }, /decimals/],
    ['a column it does not know', { columns: { price: 'PVP' } }, /columns/],
    ['a mark that is none', { decimal: ';' }, /decimal: /],
    ['a delimiter of two characters', { delimiter: ';;' }, /delimiter: expected one character/],
    [
      'a constant column',
      { columns: { currency: 'M' }, constants: { currency: 'EUR' } },
      /constants\.currency: .*both/,
    ],
    ['one reference', { constants: { invoice_ref: 'F1' } }, /constants\.invoice_ref: .*one invoice of the whole file/],
    ['one part', { reference: { columns: ['Nº'], separator: '/' } }, /reference\.columns: expected at least two/],
    ['a reference without separator', { reference: { columns: ['A', 'B'], separator: '' } }, /reference\.separator/],
    [
      'a reference and its column',
      { reference: { columns: ['A', 'B'], separator: '/' }, columns: { invoice_ref: 'A' } },
      /reference: .*both/,
    ],
  ])('refuses %s, and says where', (_, content, message) => {
    expect(() => profile(content)).toThrow(message);
    expect(() => profile(content)).toThrow(/profiles\/erp\.json/);
  });
});

it.each(['../secrets', 'a/b', 'a\\b', '.hidden', 'ERP', '', 'a'.repeat(65), 'a\0b'])(
  'requireProfileName refuses %j',
  (name) => {
    expect(() => requireProfileName(name)).toThrow(/must be small letters/);
  },
);

describe('chooseProfile', () => {
  const directory = profilesDirectory({ erp: {}, 'erp-porto': { decimal: ',' }, other: { decimal: '.' } });

  it.each([
    ['erp-2026.csv', 'erp'],
    ['ERP_november.csv', 'erp'],
    ['erp-porto-2026.csv', 'erp-porto'],
    ['erp.csv', 'erp'],
    ['erpanother.csv', null],
    ['my-erp.csv', null],
  ])('knows the profile of %s by its name: %s', async (file, name) => {
    expect((await chooseProfile({ directory, file }))?.profile.name ?? null).toBe(name);
  });

  it('does not follow a link out of the folder: an error would show what is there', async () => {
    const own = profilesDirectory({ real: { decimal: ',' } });
    const secret = temporaryFile('root:x:0:0');
    symlinkSync(secret, join(own, 'erp.json'));
    symlinkSync('real.json', join(own, 'alias.json'));

    const refusal = await chooseProfile({ directory: own, file: 'x.csv', named: 'erp' }).catch(String);

    expect(refusal).toContain('expected a readable profiles/erp.json');
    expect(refusal).not.toContain('root');
    expect(await chooseProfile({ directory: own, file: 'x.csv', named: 'alias' })).toMatchObject({
      profile: { options: { decimal: ',' } },
    });
  });

  it('lets an operator win over the name of the file', async () => {
    const chosen = await chooseProfile({ directory, file: 'erp-1.csv', named: 'other' });

    expect(chosen).toMatchObject({ how: 'declared', profile: { name: 'other' } });
  });

  it('reads a corrections file with the profile that it names, in any encoding', async () => {
    const readAs = 'decimal=comma references=cut profile=other';
    const text = `a;lote_state;lote_reason;lote_read_as\nx;invalid;why;${readAs}\n`;
    for (const encoding of ['utf8', 'utf16le', 'cp850']) {
      const { profile: written } = readAsInHead(iconv.encode(text, encoding));
      const chosen = await chooseProfile({
        directory,
        file: 'corrections.csv',
        ...(written === undefined ? {} : { written }),
      });

      expect(chosen).toMatchObject({ how: 'corrections', profile: { name: 'other' } });
    }
  });

  it('takes no text of a corrections file for what Lote wrote of it', () => {
    const head = 'a;lote_state;lote_reason;lote_read_as\nsee profile=other;invalid;"x: profile=other";encoding=cp850\n';

    expect(readAsInHead(Buffer.from(head))).toEqual({ encoding: 'cp850' });
    expect(readAsInHead(Buffer.from(head.replace('lote_read_as', 'notes')))).toEqual({});
  });

  it('names the profiles there are when the one asked for is not among them', async () => {
    await expect(chooseProfile({ directory, file: 'x.csv', named: 'nope' })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('there are erp, erp-porto, other') as string,
    });
  });

  it('finds none where there is no directory', async () => {
    expect(await chooseProfile({ directory: '/nowhere', file: 'erp-1.csv' })).toBeNull();
  });
});

it('the example profile reads the export it is written for', async () => {
  const { options } = parseProfile('loja-exemplo', readFileSync(EXAMPLE));
  const text = [
    'Série;Número;Nome do cliente;NIF do cliente;Artigo;Qtd.;P. unit. s/ IVA;Taxa IVA;Vendedor',
    'A;17;José Gonçalves;210484276;Pão de ló;2;1.234,50;23%;Rui',
    'A;18;Ana;;Café;1;1.000;6;Rui',
  ].join('\r\n');

  const { result, invoices } = await ingestedText(iconv.encode(`${text}\r\n`, 'windows-1252'), options);

  expect(result).toMatchObject({ ok: true, rows: 2, rowsLost: 0 });
  expect(invoices).toMatchObject([
    {
      ok: true,
      invoice: {
        ref: 'A/17',
        merchant: { nif: '501964843', legalName: 'Padaria Central do Porto, Lda' },
        customer: { name: 'José Gonçalves', taxId: '210484276' },
        currency: 'EUR',
        lines: [{ description: 'Pão de ló', quantity: '2', unitPrice: '1234.5', taxCode: 'IVA_23' }],
      },
    },
    { ok: true, invoice: { ref: 'A/18', lines: [{ unitPrice: '1000', taxCode: 'IVA_6' }] } },
  ]);
});

describe('a saved proposal', () => {
  it('reads the file once a person has said what the rest means, and names every column', async () => {
    const text = `Doc;NIF;Cliente;Moeda;Texto;Qtd;PVP;IVA\nF1;501964843;Ana;EUR;Pão;1;2,50;23\nF2;501964843;Rui;EUR;Chá;2;1,50;6%\n`;
    const path = temporaryFile(text);
    const column = [
      ['invoice_ref', 'Doc'],
      ['description', 'Texto'],
      ['unit_price', 'PVP'],
    ] as const;

    expect(await confirmedOptions(path)).toBeNull();
    const saved = await confirmedOptions(path, { column });

    expect(saved).toEqual({
      columns: {
        ...{ invoice_ref: 'Doc', merchant_nif: 'NIF', customer_name: 'Cliente', currency: 'Moeda' },
        ...{ description: 'Texto', quantity: 'Qtd', unit_price: 'PVP', tax_code: 'IVA' },
      },
      taxCodes: { '23': 'IVA_23', '6%': 'IVA_6' },
    });
    const { invoices } = await ingestedText(text, saved ?? {});
    expect(invoices).toMatchObject([
      { ok: true, invoice: { lines: [{ unitPrice: '2.5', taxCode: 'IVA_23' }] } },
      { ok: true, invoice: { lines: [{ unitPrice: '1.5', taxCode: 'IVA_6' }] } },
    ]);
  });

  it('is none for what is no table', async () => {
    expect(await confirmedOptions(temporaryFile('hello\n'))).toBeNull();
    expect(await confirmedOptions(temporaryFile(''))).toBeNull();
  });

  it('is found by exactly its columns, whatever the name of the file, and not with one more or less', async () => {
    const text = `Fatura,NIF,Cliente,Moeda,Descrição,Qtd,Preço,IVA,Obs\nF1,501964843,Ana,EUR,Pão,1,2.50,IVA_23,x\n`;
    const path = temporaryFile(text);
    const directory = profilesDirectory({ shop: await confirmedOptions(path), broken: { columns: 1 } });
    const chosen = async (content: string) =>
      (await chooseProfile({ directory, file: 'x.csv', path: temporaryFile(content) }))?.profile.name ?? null;

    expect(await chosen(text)).toBe('shop');
    expect(await chosen(text.replaceAll(',', ';'))).toBe('shop');
    expect(await chosen(text.replace('Obs', 'Obs,Desconto'))).toBeNull();
    expect(await chosen(text.replace(',Obs', ''))).toBeNull();
    expect(await chosen(`${HEADER}\n${csvRow()}\n`)).toBeNull();
  });
});
