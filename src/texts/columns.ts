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

const PROBLEMS_PT = {
  'currency-differs': 'As linhas da fatura têm moedas diferentes.',
  'currency-missing': 'Falta a moeda.',
  'currency-unreadable': 'A moeda não é um código de três letras, como EUR.',
  'customer-name-differs': 'As linhas da fatura têm nomes de cliente diferentes.',
  'customer-name-missing': 'Falta o nome do cliente.',
  'customer-tax-id-damaged': 'Uma folha de cálculo transformou o NIF do cliente num número.',
  'customer-tax-id-differs': 'As linhas da fatura têm NIF de cliente diferentes.',
  'customer-tax-id-unreadable': 'O NIF do cliente não tem algarismos, ou repete um só.',
  'description-missing': 'Falta a descrição da linha.',
  'merchant-email-differs': 'As linhas têm e-mails de emitente diferentes; usa-se o primeiro.',
  'merchant-legal-name-differs': 'As linhas têm nomes de emitente diferentes; usa-se o primeiro.',
  'quantity-currency': 'A quantidade tem um símbolo de moeda.',
  'quantity-decimals': 'A quantidade tem muitas casas decimais; é enviada tal como está.',
  'quantity-missing': 'Falta a quantidade.',
  'quantity-not-positive': 'A quantidade não é maior do que zero; é enviada tal como está.',
  'quantity-unreadable': 'A quantidade não se lê como um número.',
  'tax-code-missing': 'Falta o código de imposto.',
  'tax-code-unmapped': 'O perfil de mapeamento não conhece este imposto.',
  'tax-code-unusual': 'O código de imposto tem uma forma invulgar; é enviado tal como está.',
  'unit-price-currency': 'O preço unitário tem o símbolo de outra moeda.',
  'unit-price-decimals': 'O preço unitário tem muitas casas decimais; é enviado tal como está.',
  'unit-price-missing': 'Falta o preço unitário.',
  'unit-price-not-positive': 'O preço unitário não é maior do que zero; é enviado tal como está.',
  'unit-price-unreadable': 'O preço unitário não se lê como um número.',
};

/** Problems of the values of a column: a part of the texts of problems. */
export const COLUMN_PROBLEMS: Readonly<Record<Exclude<Language, 'en'>, typeof PROBLEMS_PT>> = {
  pt: PROBLEMS_PT,
  es: {
    'currency-differs': 'Las filas de la factura tienen monedas distintas.',
    'currency-missing': 'Falta la moneda.',
    'currency-unreadable': 'La moneda no es un código de tres letras, como EUR.',
    'customer-name-differs': 'Las filas de la factura tienen nombres de cliente distintos.',
    'customer-name-missing': 'Falta el nombre del cliente.',
    'customer-tax-id-damaged': 'Una hoja de cálculo convirtió el NIF del cliente en un número.',
    'customer-tax-id-differs': 'Las filas de la factura tienen NIF de cliente distintos.',
    'customer-tax-id-unreadable': 'El NIF del cliente no tiene cifras, o repite una sola.',
    'description-missing': 'Falta la descripción de la línea.',
    'merchant-email-differs': 'Las filas tienen correos de emisor distintos; se usa el primero.',
    'merchant-legal-name-differs': 'Las filas tienen nombres de emisor distintos; se usa el primero.',
    'quantity-currency': 'La cantidad tiene un símbolo de moneda.',
    'quantity-decimals': 'La cantidad tiene muchos decimales; se envía tal como está.',
    'quantity-missing': 'Falta la cantidad.',
    'quantity-not-positive': 'La cantidad no es mayor que cero; se envía tal como está.',
    'quantity-unreadable': 'La cantidad no se lee como un número.',
    'tax-code-missing': 'Falta el código de impuesto.',
    'tax-code-unmapped': 'El perfil de asignación no conoce este impuesto.',
    'tax-code-unusual': 'El código de impuesto tiene una forma inusual; se envía tal como está.',
    'unit-price-currency': 'El precio unitario tiene el símbolo de otra moneda.',
    'unit-price-decimals': 'El precio unitario tiene muchos decimales; se envía tal como está.',
    'unit-price-missing': 'Falta el precio unitario.',
    'unit-price-not-positive': 'El precio unitario no es mayor que cero; se envía tal como está.',
    'unit-price-unreadable': 'El precio unitario no se lee como un número.',
  },
};
