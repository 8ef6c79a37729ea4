import { COLUMNS, type Column } from '../../src/domain/row.ts';

/** Headers as people and their programs write them; written down here by hand, not taken from the product's list. */
const WRITTEN: Readonly<Partial<Record<Column, string>>> = {
  invoice_ref:
    'invoice_ref | Fatura | N.º Fatura | Número da Fatura | Nº da fatura | Ref. Fatura | Referência | ' +
    'Factura | Número de factura | N.º de factura | Nº Factura | Documento | N.º Documento | ' +
    'Invoice Number | Invoice No. | Invoice Ref',
  merchant_nif:
    'merchant_nif | NIF | Contribuinte | N.º Contribuinte | NIF Emitente | NIF do emitente | ' +
    'NIF emisor | NIF del emisor | Merchant tax ID | Seller NIF',
  merchant_legal_name: 'merchant_legal_name | Emitente | Nome do emitente | Razão social | Razón social | Seller name',
  merchant_email: 'merchant_email | Email emitente | E-mail do emitente | Email del emisor | Seller e-mail',
  customer_name: 'customer_name | Cliente | Nome do Cliente | Nome cliente | Nombre del cliente | Customer | Buyer',
  customer_tax_id:
    'customer_tax_id | NIF Cliente | NIF do Cliente | Contribuinte do cliente | NIF del cliente | ' +
    'Customer Tax ID | Customer VAT',
  currency: 'currency | Moeda | Moneda | Divisa | Currency code',
  description: 'description | Descrição | Designação | Descripción | Concepto | Item | Artigo',
  quantity: 'quantity | Quantidade | Qtd. | Qtde | Cantidad | Cant. | Qty',
  unit_price:
    'unit_price | Preço unitário | P. unitário | Preço Unit. | Precio unitario | P. unitario | Unit Price | Price',
  tax_code: 'tax_code | IVA | Código IVA | Código de IVA | Taxa de IVA | Tipo de IVA | VAT code | Tax rate',
};

export const HEADERS = Object.fromEntries(
  COLUMNS.map((column) => [column, (WRITTEN[column] ?? column).split(' | ')]),
) as unknown as Readonly<Record<Column, readonly string[]>>;
