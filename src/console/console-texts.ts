import type { Outcome } from '../domain/invoice-state.ts';
import type { BatchState } from '../domain/ports/ledger.ts';

export const LANGUAGES = ['en', 'pt', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Every text of the console. Names of states stay as they are: ledger, reports and pages use one word each. */
export interface ConsoleTexts {
  readonly batches: string;
  readonly health: string;
  readonly temporalUi: string;
  readonly noBatches: string;
  readonly file: string;
  readonly state: string;
  readonly progress: string;
  readonly invoices: string;
  readonly rows: string;
  readonly rowsWithoutInvoice: string;
  readonly started: string;
  readonly finished: string;
  readonly needAttention: string;
  readonly nothingOpen: string;
  readonly problems: string;
  readonly all: string;
  readonly reference: string;
  readonly merchant: string;
  readonly net: string;
  readonly withoutAmount: string;
  readonly noCurrency: string;
  readonly reason: string;
  readonly serviceId: string;
  readonly attempts: string;
  readonly balance: string;
  readonly totals: string;
  readonly fileFindings: string;
  readonly finding: string;
  readonly severity: string;
  readonly column: string;
  readonly row: string;
  readonly report: string;
  readonly noReport: string;
  readonly openInTemporal: string;
  readonly previous: string;
  readonly next: string;
  readonly page: string;
  readonly noInvoices: string;
  readonly notFound: string;
  readonly failure: string;
  readonly healthDetail: string;
  readonly check: string;
  readonly result: string;
  readonly skip: string;
  readonly live: string;
  readonly batchStates: Readonly<Record<BatchState, string>>;
  readonly states: Readonly<Record<Outcome, string>>;
}

const EN: ConsoleTexts = {
  batches: 'Batches',
  health: 'Health',
  temporalUi: 'Temporal UI',
  noBatches: 'No batch yet. Drop a file into the input folder, or run: lote run FILE',
  file: 'File',
  state: 'State',
  progress: 'Progress',
  invoices: 'Invoices',
  rows: 'Rows',
  rowsWithoutInvoice: 'Rows without an invoice',
  started: 'Started',
  finished: 'Finished',
  needAttention: 'need attention',
  nothingOpen: 'nothing open',
  problems: 'Problems',
  all: 'All',
  reference: 'Reference',
  merchant: 'Merchant',
  net: 'Net',
  withoutAmount: 'Without a readable amount',
  noCurrency: 'no currency',
  reason: 'Reason',
  serviceId: 'Service id',
  attempts: 'Attempts',
  balance: 'Invoices by state',
  totals: 'Totals by currency, without tax',
  fileFindings: 'Findings about the file',
  finding: 'Finding',
  severity: 'Severity',
  column: 'Column',
  row: 'Row',
  report: 'Report',
  noReport: 'The report is written when the batch ends.',
  openInTemporal: 'Open in the Temporal UI',
  previous: 'Previous',
  next: 'Next',
  page: 'Page',
  noInvoices: 'No invoice in this view.',
  notFound: 'There is nothing at this address.',
  failure: 'The console could not do this. The log of the process says why.',
  healthDetail: 'What was found',
  check: 'Part',
  result: 'Result',
  skip: 'To the content',
  live: 'Updates by itself while the batch runs.',
  batchStates: {
    staging: 'reading the file',
    refused: 'refused',
    running: 'running',
    paused: 'paused',
    cancelled: 'cancelled',
    finished: 'finished',
  },
  states: {
    issued: 'Issued',
    'already-issued': 'Issued by an earlier file; not sent again',
    staged: 'Waiting to be sent',
    sending: 'Being sent',
    accepted: 'Accepted, waiting for the final word',
    unsettled: 'Accepted, still no final word; do not send again',
    unknown: 'May have been issued, no answer came; do not send again',
    held: 'Kept back, not sent',
    failed: 'The service could not issue it',
    rejected: 'Refused by the service',
    conflict: 'Known with other content from an earlier file',
    invalid: 'Not sent: a row is wrong',
  },
};

const PT: ConsoleTexts = {
  batches: 'Lotes',
  health: 'Estado do sistema',
  temporalUi: 'Interface do Temporal',
  noBatches: 'Ainda não há lotes. Coloque um ficheiro na pasta de entrada, ou execute: lote run FICHEIRO',
  file: 'Ficheiro',
  state: 'Estado',
  progress: 'Progresso',
  invoices: 'Faturas',
  rows: 'Linhas',
  rowsWithoutInvoice: 'Linhas sem fatura',
  started: 'Início',
  finished: 'Fim',
  needAttention: 'precisam de atenção',
  nothingOpen: 'nada em aberto',
  problems: 'Problemas',
  all: 'Todas',
  reference: 'Referência',
  merchant: 'Emitente',
  net: 'Valor líquido',
  withoutAmount: 'Sem valor legível',
  noCurrency: 'sem moeda',
  reason: 'Motivo',
  serviceId: 'Id do serviço',
  attempts: 'Tentativas',
  balance: 'Faturas por estado',
  totals: 'Totais por moeda, sem imposto',
  fileFindings: 'Observações sobre o ficheiro',
  finding: 'Observação',
  severity: 'Gravidade',
  column: 'Coluna',
  row: 'Linha',
  report: 'Relatório',
  noReport: 'O relatório é escrito quando o lote termina.',
  openInTemporal: 'Abrir na interface do Temporal',
  previous: 'Anterior',
  next: 'Seguinte',
  page: 'Página',
  noInvoices: 'Nenhuma fatura nesta vista.',
  notFound: 'Não há nada neste endereço.',
  failure: 'A consola não conseguiu fazer isto. O registo do processo diz porquê.',
  healthDetail: 'O que foi encontrado',
  check: 'Parte',
  result: 'Resultado',
  skip: 'Ir para o conteúdo',
  live: 'Atualiza-se sozinha enquanto o lote decorre.',
  batchStates: {
    staging: 'a ler o ficheiro',
    refused: 'recusado',
    running: 'em curso',
    paused: 'em pausa',
    cancelled: 'cancelado',
    finished: 'terminado',
  },
  states: {
    issued: 'Emitida',
    'already-issued': 'Emitida por um ficheiro anterior; não voltou a ser enviada',
    staged: 'À espera de envio',
    sending: 'A ser enviada',
    accepted: 'Aceite, à espera da palavra final',
    unsettled: 'Aceite, ainda sem palavra final; não volte a enviar',
    unknown: 'Pode ter sido emitida, não houve resposta; não volte a enviar',
    held: 'Retida, não enviada',
    failed: 'O serviço não conseguiu emiti-la',
    rejected: 'Recusada pelo serviço',
    conflict: 'Já conhecida, com outro conteúdo, de um ficheiro anterior',
    invalid: 'Não enviada: há uma linha errada',
  },
};

const ES: ConsoleTexts = {
  batches: 'Lotes',
  health: 'Estado del sistema',
  temporalUi: 'Interfaz de Temporal',
  noBatches: 'Todavía no hay lotes. Deje un archivo en la carpeta de entrada, o ejecute: lote run ARCHIVO',
  file: 'Archivo',
  state: 'Estado',
  progress: 'Progreso',
  invoices: 'Facturas',
  rows: 'Filas',
  rowsWithoutInvoice: 'Filas sin factura',
  started: 'Inicio',
  finished: 'Fin',
  needAttention: 'requieren atención',
  nothingOpen: 'nada pendiente',
  problems: 'Problemas',
  all: 'Todas',
  reference: 'Referencia',
  merchant: 'Emisor',
  net: 'Importe neto',
  withoutAmount: 'Sin importe legible',
  noCurrency: 'sin moneda',
  reason: 'Motivo',
  serviceId: 'Id del servicio',
  attempts: 'Intentos',
  balance: 'Facturas por estado',
  totals: 'Totales por moneda, sin impuestos',
  fileFindings: 'Observaciones sobre el archivo',
  finding: 'Observación',
  severity: 'Gravedad',
  column: 'Columna',
  row: 'Fila',
  report: 'Informe',
  noReport: 'El informe se escribe cuando termina el lote.',
  openInTemporal: 'Abrir en la interfaz de Temporal',
  previous: 'Anterior',
  next: 'Siguiente',
  page: 'Página',
  noInvoices: 'Ninguna factura en esta vista.',
  notFound: 'No hay nada en esta dirección.',
  failure: 'La consola no pudo hacerlo. El registro del proceso dice por qué.',
  healthDetail: 'Qué se encontró',
  check: 'Parte',
  result: 'Resultado',
  skip: 'Ir al contenido',
  live: 'Se actualiza sola mientras el lote está en curso.',
  batchStates: {
    staging: 'leyendo el archivo',
    refused: 'rechazado',
    running: 'en curso',
    paused: 'en pausa',
    cancelled: 'cancelado',
    finished: 'terminado',
  },
  states: {
    issued: 'Emitida',
    'already-issued': 'Emitida por un archivo anterior; no se volvió a enviar',
    staged: 'A la espera de envío',
    sending: 'Enviándose',
    accepted: 'Aceptada, a la espera de la palabra final',
    unsettled: 'Aceptada, aún sin palabra final; no la vuelva a enviar',
    unknown: 'Puede haberse emitido, no hubo respuesta; no la vuelva a enviar',
    held: 'Retenida, no enviada',
    failed: 'El servicio no pudo emitirla',
    rejected: 'Rechazada por el servicio',
    conflict: 'Ya conocida, con otro contenido, de un archivo anterior',
    invalid: 'No enviada: hay una fila errónea',
  },
};

export const CONSOLE_TEXTS: Readonly<Record<Language, ConsoleTexts>> = { en: EN, pt: PT, es: ES };
