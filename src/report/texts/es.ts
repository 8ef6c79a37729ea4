import { OUTCOME_TEXTS_ES } from '../../texts/outcomes/es.ts';
import type { ReportTexts } from './en.ts';

const AT_WORK = 'El lote todavía está trabajando en ellas.';

/** Spanish texts of the report. */
export const REPORT_TEXTS_ES: ReportTexts = {
  ...OUTCOME_TEXTS_ES,
  title: '{file}: informe del lote',
  application: 'aplicación {name}',
  started: 'Inicio: {started}.',
  revision: 'Informe {n}, escrito el {time}.',
  invoices: '{n} [factura|facturas]',
  verdict: {
    title: 'Resultado',
    moneyOut: 'Emitido, importe neto sin impuestos: {amounts}.',
    partOf: '{out} de {all}',
    row: 'Fila {n}: ',
    refusedNext: 'Qué hacer ahora: corrija el archivo y deposítelo de nuevo.',
    corrections: 'Archivo de correcciones:',
    correctionsHold: 'tiene todas las filas que la administración puede corregir, con el motivo al final de cada una.',
    misfit: 'Alerta: el perfil del servicio no corresponde al servicio.',
  },
  doers: {
    'back-office': 'Por hacer en administración',
    operator: 'Por hacer por un operador de Lote',
    lote: 'Nada que hacer: Lote sigue por sí mismo',
  },
  next: {
    invalid: 'Corrija estas filas en el archivo de correcciones y deposite ese archivo.',
    rejected: 'Corrija estas facturas en el archivo de correcciones y deposite ese archivo.',
    failed:
      'Si el contenido es erróneo, corríjalo en el archivo de correcciones y deposite ese archivo. Si es correcto, un operador puede enviar el lote otra vez.',
    conflict: 'Decida qué contenido es el correcto. Una factura nueva necesita una referencia nueva.',
    held: 'Elimine la causa indicada en «Por qué» y ejecute el archivo de nuevo o reenvíe el lote. Donde faltan datos del emisor, la administración los añade en el archivo de correcciones.',
    unknown:
      'No las envíe en otro archivo. Mientras el servicio recuerda la clave, Lote vuelve a preguntar por sí mismo; un operador puede adelantarlo con reconcile. Después, y donde «Por qué» dice key-known-with-other-bytes o deja la decisión a un operador, pregunte al servicio qué fue de cada una y después reenvíela por su referencia (retry).',
    unsettled: 'No las envíe en otro archivo. Lote sigue preguntando y reescribe este informe.',
    staged: AT_WORK,
    sending: AT_WORK,
    accepted: AT_WORK,
  },
  rowList: {
    none: 'ninguna fila',
    named: '[fila|filas] {rows}',
  },
  file: {
    title: 'El archivo',
    counts: '{rows} filas: {taken} en {invoices} facturas, {left} sin factura.',
  },
  changes: {
    label: 'Cambios',
    title: 'Cambios desde el informe {n}',
    none: 'Ninguna factura cambió de estado.',
    inDoubt: 'Facturas emitidas que están en duda: {n}; antes, {before}.',
    was: 'Era',
    is: 'Es',
  },
  list: {
    notOut: 'Facturas sin emisión confirmada',
    inDoubt: 'En duda, a comprobar en el servicio',
    out: 'Facturas que se emitieron',
    rest: 'En esta página están solo las primeras {n} de {of}, para que se abra al instante. Están todas en report.csv y report.json, junto a ella, y en la consola.',
  },
  notes: {
    'webhooks-unreadable':
      'Alerta: desde que empezó este lote, {n} [webhook|webhooks] con firma correcta no se [pudo|pudieron] leer. El libro de registro guarda los bytes; compárelos con el perfil del servicio (event). Las respuestas finales se obtuvieron preguntando (GET).',
    'webhooks-of-unknown-invoices':
      'Alerta: desde que empezó este lote, {n} [webhook habló|webhooks hablaron] de facturas que aquí nadie conoce: de otra aplicación, o de un POST cuya respuesta se perdió. El libro de registro [lo|los] guarda y [lo|los] aplica cuando encuentre [su factura|sus facturas].',
    'no-corrections':
      'No hay archivo de correcciones: el archivo original no se pudo leer de nuevo tal como era. Corrija las filas en el archivo original y deposite ese.',
    'corrections-unfit':
      'No hay archivo de correcciones, porque ningún libro de hojas de cálculo puede contenerlo. En inglés: {cause}. Corrija las filas en el archivo original y deposite ese; lo que ya se emitió no se envía otra vez.',
    'no-webhook': 'Las respuestas finales se obtuvieron solo preguntando (GET). En inglés: {cause}.',
  },
};
