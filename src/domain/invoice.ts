/** One line of an invoice; amounts are canonical decimal strings (no exponent, no superfluous zeros). */
export interface InvoiceLine {
  readonly description: string;
  readonly quantity: string;
  readonly unitPrice: string;
  readonly taxCode: string;
}

/** A valid invoice as read from a file. Lote sends only its published fields to the service. */
export interface Invoice {
  readonly ref: string;
  readonly merchant: { readonly nif: string; readonly legalName: string | null; readonly email: string | null };
  readonly customer: { readonly name: string; readonly taxId: string | null };
  /** Three capital letters. */
  readonly currency: string;
  readonly lines: readonly InvoiceLine[];
}

/** What a cell of a column holds: a number in an amount column is read in another way than in a tax number column. */
export type CellRole = 'number' | 'tax-number' | 'reference' | 'text';

/** What all parts of Lote know of a column of the published file format. */
interface Field {
  /** Place in an invoice object of a JSON file; with `sent`, also the name in the template of a body. */
  readonly path: string;
  readonly isOptional?: true;
  /** Absent: `text`. */
  readonly role?: Exclude<CellRole, 'text'>;
  /** Returns what is sent, on which all rows of an invoice agree. Absent for reference, merchant and lines. */
  readonly sent?: (invoice: Invoice) => string | undefined;
  /** What the sent value must be, in words; and as an expression if it is not free. */
  readonly expected?: string;
  readonly form?: RegExp;
  /**
   * Likely headers besides its own name, in Portuguese, Spanish and English, without accents, case or separators. A word
   * that could mean two columns (`nome`, `date`, `total`) is missing on purpose.
   */
  readonly headers: string;
}

const TABLE = {
  invoice_ref: {
    path: 'invoice_ref',
    role: 'reference',
    headers:
      'referencia reffatura referenciafatura fatura nfatura nrfatura numerofatura nofatura numfatura ' +
      'factura nfactura nrfactura numerofactura numfactura nofactura documento ndocumento nodocumento ' +
      'nrdocumento numerodocumento invoice invoiceno invoicenumber invoicereference reference ref',
  },
  merchant_nif: {
    path: 'merchant.nif',
    role: 'tax-number',
    headers:
      'nif contribuinte ncontribuinte nocontribuinte nrcontribuinte numerocontribuinte nifemitente ' +
      'nifemissor nifcomerciante nifvendedor nifemisor merchanttaxid sellertaxid sellernif suppliernif ' +
      'suppliertaxid',
  },
  merchant_legal_name: {
    path: 'merchant.legal_name',
    isOptional: true,
    headers:
      'emitente nomeemitente comerciante nomecomerciante vendedor razaosocial razonsocial emisor ' +
      'merchant merchantname seller sellername supplier suppliername',
  },
  merchant_email: {
    path: 'merchant.email',
    isOptional: true,
    headers: 'emailemitente emailcomerciante emailvendedor emailemisor selleremail supplieremail',
  },
  customer_name: {
    path: 'customer.name',
    expected: 'the name of the buyer',
    sent: ({ customer }) => customer.name,
    headers:
      'cliente nomecliente nomedocliente nombrecliente nombredelcliente comprador adquirente customer ' +
      'client clientname buyer buyername',
  },
  customer_tax_id: {
    path: 'customer.tax_id',
    role: 'tax-number',
    isOptional: true,
    sent: ({ customer }) => customer.taxId || undefined,
    headers:
      'nifcliente nifdocliente contribuintecliente nifadquirente nifcomprador cifcliente nifdelcliente ' +
      'customertaxnumber customervat customernif clienttaxid buyertaxid buyernif',
  },
  currency: {
    path: 'currency',
    expected: 'a code of three letters such as EUR',
    form: /^[A-Z]{3}$/,
    sent: ({ currency }) => currency,
    headers: 'moeda moneda divisa currencycode',
  },
  description: {
    path: 'lines[].description',
    headers: 'descricao designacao artigo produto descripcion concepto articulo producto item itemdescription product',
  },
  quantity: {
    path: 'lines[].quantity',
    role: 'number',
    headers: 'quantidade qtd qtde quant cantidad cant unidades qty units',
  },
  unit_price: {
    path: 'lines[].unit_price',
    role: 'number',
    headers:
      'precounitario punitario punit precounit preco preciounitario preciounit precio price unitcost priceperunit',
  },
  tax_code: {
    path: 'lines[].tax_code',
    headers: 'iva codigoiva taxaiva taxa imposto tipoiva impuesto codigoimpuesto vat vatcode tax taxrate vatrate',
  },
} satisfies Record<string, Field>;

/** All columns, in their default order. The ledger keeps cells by position, so a new column comes last. */
export const FIELDS: Readonly<Record<keyof typeof TABLE, Field>> = TABLE;

const SENT = Object.values(FIELDS).flatMap(({ path, sent }) => (sent === undefined ? [] : [{ path, sent }]));

/** Returns what is sent of an invoice besides merchant and lines, by path and in the order of the published body. */
export function sentBy(invoice: Invoice): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(SENT.map(({ path, sent }) => [path, sent(invoice)]));
}

/** Builds what all rows of an invoice share. `cell` returns the text of a column, '' where the file has none. */
export function headOf(nif: string, cell: (column: keyof typeof FIELDS) => string): Omit<Invoice, 'ref' | 'lines'> {
  const customer = { name: cell('customer_name'), taxId: cell('customer_tax_id') || null };
  const merchant = { nif, legalName: cell('merchant_legal_name') || null, email: cell('merchant_email') || null };
  return { merchant, customer, currency: cell('currency') };
}

/** A message to the operator about a row, with its place and in the words of the file. */
export interface Finding {
  /** Physical line of a CSV record's start, or ordinal of the JSON line object, from 1; null for the whole file. */
  readonly row: number | null;
  readonly column: string | null;
  /** Stable kebab-case code, e.g. `quantity-unreadable`. */
  readonly code: string;
  readonly message: string;
  readonly severity: 'error' | 'warning' | 'info';
  /** For `rows-skipped`: the number of skipped rows. */
  readonly rows?: number;
}

/** Why an invoice is in its state; every state but `issued` and `already-issued` has one. */
export interface Reason {
  readonly code: string;
  readonly message: string;
}
