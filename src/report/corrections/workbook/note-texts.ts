import type { Column } from '../../../domain/row.ts';

/** Words of the notes at wrong cells. */
export interface NoteTexts {
  readonly wrong: string;
  /** What is wrong by the code of a finding; the finding's own sentence, which is English, where there is none. */
  readonly codes: Readonly<Record<string, string>>;
  /** Before that sentence, where it stands below its translation. */
  readonly detail: string;
  readonly mustHold: string;
  /** What must hold for the cells of a column, whatever is wrong with them. */
  readonly columns: Readonly<Record<Column, string>>;
}

const EN: NoteTexts = {
  wrong: 'What is wrong:',
  codes: {},
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
  codes: {
    'nif-missing': 'falta o NIF do comerciante.',
    'nif-unreadable': 'o NIF do comerciante não se consegue ler.',
    'nif-damaged': 'o NIF do comerciante foi estragado por uma folha de cálculo.',
    'tax-number-damaged': 'está aqui uma data ou uma hora em vez de um NIF.',
    'tax-number-not-proved': 'o NIF está como número: podem faltar-lhe zeros à esquerda.',
    'customer-tax-id-damaged': 'o NIF do cliente foi estragado por uma folha de cálculo.',
    'reference-missing': 'falta a referência da fatura.',
    'reference-damaged': 'o valor não é uma referência: a folha de cálculo mudou-o.',
    'reference-ambiguous': 'uma parte da referência contém o separador.',
    'reference-look-alike': 'a referência parece igual a outra e não é.',
    'row-repeated': 'esta linha da fatura está repetida.',
    'line-may-be-missing': 'pode faltar uma linha desta fatura.',
    'cell-merged': 'a célula está unida a outras: um valor para várias linhas não diz de qual é.',
    'row-hidden': 'a linha está oculta: mostre-a ou apague-a.',
    'cell-count': 'a linha tem outro número de células do que o cabeçalho.',
    'spreadsheet-error': 'a célula tem um erro de fórmula.',
    'formula-without-value': 'a fórmula não tem valor guardado.',
    'formula-not-calculated': 'a fórmula está por calcular.',
    'number-not-exact': 'o número tem mais algarismos do que uma folha de cálculo guarda.',
    'cell-unreadable': 'a célula diz que é um número e não é.',
    'number-format-adds-text': 'o formato mostra texto que não está na célula.',
    'quantity-missing': 'falta a quantidade.',
    'quantity-unreadable': 'a quantidade não se consegue ler como número.',
    'quantity-ambiguous': 'a quantidade pode ser lida como dois números diferentes.',
    'quantity-currency': 'a quantidade tem uma moeda ou uma unidade.',
    'unit-price-missing': 'falta o preço.',
    'unit-price-unreadable': 'o preço não se consegue ler como número.',
    'unit-price-ambiguous': 'o preço pode ser lido como dois números diferentes.',
    'unit-price-currency': 'a moeda do preço não é a da fatura.',
    'currency-unreadable': 'a moeda não são três letras.',
    'customer-name-missing': 'falta o nome do cliente.',
    'description-missing': 'falta a descrição.',
    'tax-code-missing': 'falta o código de imposto.',
    'tax-code-unmapped': 'o perfil não diz que código de imposto é este.',
  },
  detail: 'Em inglês, como no relatório:',
  mustHold: 'O que tem de ser:',
  columns: {
    invoice_ref: 'a referência da fatura como texto, igual em todas as linhas da fatura e única para o comerciante.',
    merchant_nif: 'o NIF do comerciante como texto: nove algarismos.',
    merchant_legal_name: 'a denominação social do comerciante, igual em todas as linhas da fatura.',
    merchant_email: 'o e-mail do comerciante, igual em todas as linhas da fatura.',
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
  codes: {
    'nif-missing': 'falta el NIF del comerciante.',
    'nif-unreadable': 'el NIF del comerciante no se puede leer.',
    'nif-damaged': 'una hoja de cálculo ha dañado el NIF del comerciante.',
    'tax-number-damaged': 'hay una fecha o una hora en lugar de un NIF.',
    'tax-number-not-proved': 'el NIF está como número: pueden faltarle ceros a la izquierda.',
    'customer-tax-id-damaged': 'una hoja de cálculo ha dañado el NIF del cliente.',
    'reference-missing': 'falta la referencia de la factura.',
    'reference-damaged': 'el valor no es una referencia: la hoja de cálculo lo ha cambiado.',
    'reference-ambiguous': 'una parte de la referencia contiene el separador.',
    'reference-look-alike': 'la referencia parece igual a otra y no lo es.',
    'row-repeated': 'esta fila de la factura está repetida.',
    'line-may-be-missing': 'puede faltar una línea de esta factura.',
    'cell-merged': 'la celda está combinada con otras: un valor para varias filas no dice de cuál es.',
    'row-hidden': 'la fila está oculta: muéstrela o bórrela.',
    'cell-count': 'la fila tiene otro número de celdas que la cabecera.',
    'spreadsheet-error': 'la celda tiene un error de fórmula.',
    'formula-without-value': 'la fórmula no tiene un valor guardado.',
    'formula-not-calculated': 'la fórmula está sin calcular.',
    'number-not-exact': 'el número tiene más dígitos de los que guarda una hoja de cálculo.',
    'cell-unreadable': 'la celda dice que es un número y no lo es.',
    'number-format-adds-text': 'el formato muestra texto que no está en la celda.',
    'quantity-missing': 'falta la cantidad.',
    'quantity-unreadable': 'la cantidad no se puede leer como número.',
    'quantity-ambiguous': 'la cantidad se puede leer como dos números distintos.',
    'quantity-currency': 'la cantidad tiene una moneda o una unidad.',
    'unit-price-missing': 'falta el precio.',
    'unit-price-unreadable': 'el precio no se puede leer como número.',
    'unit-price-ambiguous': 'el precio se puede leer como dos números distintos.',
    'unit-price-currency': 'la moneda del precio no es la de la factura.',
    'currency-unreadable': 'la moneda no son tres letras.',
    'customer-name-missing': 'falta el nombre del cliente.',
    'description-missing': 'falta la descripción.',
    'tax-code-missing': 'falta el código de impuesto.',
    'tax-code-unmapped': 'el perfil no dice qué código de impuesto es este.',
  },
  detail: 'En inglés, como en el informe:',
  mustHold: 'Qué debe haber:',
  columns: {
    invoice_ref: 'la referencia de la factura como texto, igual en todas sus filas y única para el comerciante.',
    merchant_nif: 'el NIF del comerciante como texto: nueve dígitos.',
    merchant_legal_name: 'la razón social del comerciante, igual en todas las filas de la factura.',
    merchant_email: 'el correo electrónico del comerciante, igual en todas las filas de la factura.',
    customer_name: 'el nombre del cliente, igual en todas las filas de la factura.',
    customer_tax_id: 'el NIF del cliente como texto, o nada; igual en todas las filas de la factura.',
    currency: 'tres letras, como EUR, iguales en todas las filas de la factura.',
    description: 'qué se vende, en palabras.',
    quantity: 'un número, sin unidad ni moneda.',
    unit_price: 'un número, en la moneda de la factura.',
    tax_code: 'un código de impuesto que el servicio conozca, como IVA_23.',
  },
};

const ALL: Readonly<Record<string, NoteTexts>> = { en: EN, pt: PT, es: ES };

/** The words for a language tag such as `pt-BR`; English where there are none. */
export function noteTexts(language: string): NoteTexts {
  return ALL[language.split('-')[0]?.toLowerCase() ?? ''] ?? EN;
}
