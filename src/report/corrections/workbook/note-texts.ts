import type { Column } from '../../../domain/row.ts';
import type { Language } from '../../../texts/languages.ts';

/** Words of the notes at wrong cells. */
export interface NoteTexts {
  readonly wrong: string;
  /** Before the finding's own sentence, which is English, where it stands below its translation. */
  readonly detail: string;
  readonly mustHold: string;
  /** What must hold for the cells of a column, whatever is wrong with them. */
  readonly columns: Readonly<Record<Column, string>>;
}

const EN: NoteTexts = {
  wrong: 'What is wrong:',
  detail: '',
  mustHold: 'What must hold:',
  columns: {
    invoice_ref: 'the reference of the invoice as text, the same in each of its rows, unique for its merchant.',
    merchant_nif: 'the tax number of the merchant as text: nine digits.',
    merchant_legal_name: 'the legal name of the merchant, the same in each row of the invoice.',
    merchant_email: 'the e-mail address of the merchant, the same in each row of the invoice.',
    customer_name: 'the name of the customer, the same in each row of the invoice.',
    customer_tax_id: 'the tax number of the customer as text, or nothing; the same in each row of the invoice.',
    currency: 'three letters such as EUR, the same in each row of the invoice.',
    description: 'what is sold, in words.',
    quantity: 'a number, without a unit and without a currency.',
    unit_price: 'a number, in the currency of the invoice.',
    tax_code: 'a tax code that the service knows, such as IVA_23.',
  },
};

const PT: NoteTexts = {
  wrong: 'O que está errado:',
  detail: 'Em inglês, como no relatório:',
  mustHold: 'O que tem de ser:',
  columns: {
    invoice_ref: 'a referência da fatura como texto, igual em todas as linhas da fatura e única para o emitente.',
    merchant_nif: 'o NIF do emitente como texto: nove algarismos.',
    merchant_legal_name: 'a denominação social do emitente, igual em todas as linhas da fatura.',
    merchant_email: 'o e-mail do emitente, igual em todas as linhas da fatura.',
    customer_name: 'o nome do cliente, igual em todas as linhas da fatura.',
    customer_tax_id: 'o NIF do cliente como texto, ou nada; igual em todas as linhas da fatura.',
    currency: 'três letras, como EUR, iguais em todas as linhas da fatura.',
    description: 'o que é vendido, em palavras.',
    quantity: 'um número, sem unidade nem moeda.',
    unit_price: 'um número, na moeda da fatura.',
    tax_code: 'um código de imposto que o serviço conheça, como IVA_23.',
  },
};

const ES: NoteTexts = {
  wrong: 'Qué está mal:',
  detail: 'En inglés, como en el informe:',
  mustHold: 'Qué debe haber:',
  columns: {
    invoice_ref: 'la referencia de la factura como texto, igual en todas sus filas y única para el emisor.',
    merchant_nif: 'el NIF del emisor como texto: nueve dígitos.',
    merchant_legal_name: 'la razón social del emisor, igual en todas las filas de la factura.',
    merchant_email: 'el correo electrónico del emisor, igual en todas las filas de la factura.',
    customer_name: 'el nombre del cliente, igual en todas las filas de la factura.',
    customer_tax_id: 'el NIF del cliente como texto, o nada; igual en todas las filas de la factura.',
    currency: 'tres letras, como EUR, iguales en todas las filas de la factura.',
    description: 'qué se vende, en palabras.',
    quantity: 'un número, sin unidad ni moneda.',
    unit_price: 'un número, en la moneda de la factura.',
    tax_code: 'un código de impuesto que el servicio conozca, como IVA_23.',
  },
};

/** The words of notes by language. */
export const NOTE_TEXTS: Readonly<Record<Language, NoteTexts>> = { en: EN, pt: PT, es: ES };
