import { COLUMNS, type Column } from '../domain/row.ts';
import type { Language } from './languages.ts';

const NAMES: Readonly<Record<Column, Readonly<Record<Language, string>>>> = {
  invoice_ref: { en: 'reference of the invoice', pt: 'referência da fatura', es: 'referencia de la factura' },
  merchant_nif: { en: 'tax number of the merchant', pt: 'NIF do emitente', es: 'NIF del emisor' },
  merchant_legal_name: { en: 'name of the merchant', pt: 'nome do emitente', es: 'nombre del emisor' },
  merchant_email: { en: 'e-mail of the merchant', pt: 'e-mail do emitente', es: 'correo del emisor' },
  customer_name: { en: 'name of the customer', pt: 'nome do cliente', es: 'nombre del cliente' },
  customer_tax_id: { en: 'tax number of the customer', pt: 'NIF do cliente', es: 'NIF del cliente' },
  currency: { en: 'currency', pt: 'moeda', es: 'moneda' },
  description: { en: 'description of the line', pt: 'descrição da linha', es: 'descripción de la línea' },
  quantity: { en: 'quantity', pt: 'quantidade', es: 'cantidad' },
  unit_price: { en: 'unit price without tax', pt: 'preço unitário sem imposto', es: 'precio unitario sin impuesto' },
  tax_code: { en: 'tax', pt: 'imposto', es: 'impuesto' },
};

/** Returns what each column of a file means. */
export function columnNames(language: Language): Readonly<Record<Column, string>> {
  return Object.fromEntries(COLUMNS.map((column) => [column, NAMES[column][language]])) as Record<Column, string>;
}
