import { OUTCOME_TEXTS_PT } from '../../texts/outcomes/pt.ts';
import type { ReportTexts } from './en.ts';

const AT_WORK = 'O lote ainda está a tratar delas.';

/** Portuguese texts of the report. */
export const REPORT_TEXTS_PT: ReportTexts = {
  ...OUTCOME_TEXTS_PT,
  title: '{file}: relatório do lote',
  application: 'aplicação {name}',
  started: 'Início: {started}.',
  revision: 'Relatório {n}, escrito em {time}.',
  invoices: '{n} [fatura|faturas]',
  verdict: {
    title: 'Resultado',
    moneyOut: 'Emitido, valor líquido sem imposto: {amounts}.',
    partOf: '{out} de {all}',
    row: 'Linha {n}: ',
    refusedNext: 'O que fazer a seguir: corrija o ficheiro e deposite-o de novo.',
    corrections: 'Ficheiro de correções:',
    correctionsHold:
      'tem todas as linhas que os serviços administrativos podem corrigir, com o motivo no fim de cada uma.',
    misfit: 'Alerta: o perfil do serviço não corresponde ao serviço.',
  },
  doers: {
    'back-office': 'A fazer pelos serviços administrativos',
    operator: 'A fazer por um operador do Lote',
    lote: 'Nada a fazer: o Lote continua sozinho',
  },
  next: {
    invalid: 'Corrija estas linhas no ficheiro de correções e deposite esse ficheiro.',
    rejected: 'Corrija estas faturas no ficheiro de correções e deposite esse ficheiro.',
    failed:
      'Se o conteúdo estiver errado, corrija-o no ficheiro de correções e deposite esse ficheiro. Se estiver certo, um operador pode enviar o lote de novo.',
    conflict: 'Decida que conteúdo está certo. Uma fatura nova precisa de uma referência nova.',
    held: 'Elimine a causa indicada em «Porquê» e execute o ficheiro de novo ou reenvie o lote. Onde faltam dados do emitente, os serviços administrativos acrescentam-nos no ficheiro de correções.',
    unknown:
      'Não as envie noutro ficheiro. Enquanto o serviço se lembra da chave, o Lote volta a perguntar sozinho; um operador pode apressá-lo com reconcile. Depois disso, e onde «Porquê» diz key-known-with-other-bytes ou deixa a decisão a um operador, pergunte ao serviço o que foi feito de cada uma e depois reenvie-a pela sua referência (retry).',
    unsettled: 'Não as envie noutro ficheiro. O Lote continua a perguntar e reescreve este relatório.',
    staged: AT_WORK,
    sending: AT_WORK,
    accepted: AT_WORK,
  },
  rowList: {
    none: 'nenhuma linha',
    named: '[linha|linhas] {rows}',
  },
  file: {
    title: 'O ficheiro',
    counts: '{rows} linhas: {taken} em {invoices} faturas, {left} sem fatura.',
  },
  changes: {
    label: 'Alterações',
    title: 'Alterado desde o relatório {n}',
    none: 'Nenhuma fatura mudou de estado.',
    inDoubt: 'Faturas emitidas que estão em dúvida: {n}; antes, {before}.',
    was: 'Era',
    is: 'É',
  },
  list: {
    notOut: 'Faturas sem emissão confirmada',
    inDoubt: 'Em dúvida, a confirmar no serviço',
    out: 'Faturas que foram emitidas',
    rest: 'Nesta página estão só as primeiras {n} de {of}, para que abra de imediato. Estão todas em report.csv e report.json ao lado dela, e na consola.',
  },
  notes: {
    'webhooks-unreadable':
      'Alerta: desde que este lote começou, {n} [webhook|webhooks] com assinatura correta não [pôde|puderam] ser [lido|lidos]. O livro de registo guarda os bytes; compare-os com o perfil do serviço (event). As respostas finais foram obtidas por consulta (GET).',
    'webhooks-of-unknown-invoices':
      'Alerta: desde que este lote começou, {n} [webhook falou|webhooks falaram] de faturas que aqui ninguém conhece: de outra aplicação, ou de um POST cuja resposta se perdeu. O livro de registo [guarda-o|guarda-os] e [aplica-o|aplica-os] quando encontrar [a sua fatura|as suas faturas].',
    'no-corrections':
      'Não há ficheiro de correções: o ficheiro original não pôde ser lido de novo tal como era. Corrija as linhas no ficheiro original e deposite esse.',
    'corrections-unfit':
      'Não há ficheiro de correções, porque nenhum livro de folhas de cálculo o pode conter. Em inglês: {cause}. Corrija as linhas no ficheiro original e deposite esse; o que já foi emitido não é enviado outra vez.',
    'no-webhook': 'As respostas finais foram obtidas só por consulta (GET). Em inglês: {cause}.',
  },
};
