import type { DetailsTexts } from './en.ts';

/** Portuguese words of the current details. */
export const DETAILS_TEXTS_PT: DetailsTexts = {
  phases: {
    reading: 'a ler o ficheiro',
    attached: 'outra execução tem este ficheiro: à espera dela',
    confirming: 'retido antes de se enviar alguma coisa: o total é invulgar',
    merchants: 'a garantir que os emitentes existem',
    sending: 'a enviar faturas',
    waiting: 'tudo enviado: à espera das respostas finais',
    reporting: 'a escrever o relatório',
    done: 'terminado',
  },
  paused: 'em pausa, por um operador ({phase})',
  batch: 'Lote',
  notRead: '(ainda não lido)',
  report: 'Relatório',
  reportLater: 'Relatório, quando estiver escrito',
  console: 'Consola: este lote',
  now: 'Agora',
  waitsFor: 'Espera por',
  nothing: 'nada',
  whatToDo: 'O que fazer',
  unusualTotal: 'Total invulgar',
  serviceProfile: 'Perfil do serviço',
  invoices: 'Faturas',
  pages: 'Páginas',
  pagesOf: '{sent} enviadas, {done} concluídas, de {pages}',
  pagesFailed: 'Páginas falhadas',
  cancelled: 'Cancelado',
  nothingMore: 'nada mais é enviado',
  balance: 'Balanço',
  asOf: 'em {time}',
  state: 'Estado',
  net: 'Valor líquido',
  ofFile: 'do ficheiro',
  goneOut: 'emitido',
  next: {
    folder:
      'Permita a escrita na pasta indicada, ou liberte espaço nela. Entretanto nada se perde: tenta-se de novo automaticamente',
    ledger:
      'Veja o que se passa com a base de dados do livro de registo. Entretanto nada se perde, e tudo continua sozinho quando a base de dados voltar a aceitar escritas',
    key: 'O serviço recusa a chave da API: defina a correta e inicie o Lote de novo. Entretanto nada se perde',
    profile:
      'O perfil do serviço não corresponde ao serviço: corrija o ficheiro indicado por SERVICE_PROFILE e inicie o Lote de novo. Entretanto nada se perde',
    forbidden: 'O serviço recusa esta aplicação: contacte o apoio do serviço. Tenta-se de novo automaticamente',
    firstInvoices:
      'Nada: as primeiras faturas foram aceites, e o resto segue quando uma delas for emitida. Só com um perfil do serviço novo pode demorar mais de meio minuto',
    leftAlone: 'Nada: o serviço pediu que se esperasse um pouco',
    away: 'Nada: continua sozinho quando o serviço voltar a responder, durante o tempo de LOTE_OUTAGE_PATIENCE. A página do estado do sistema, na consola, mostra o que se passa',
    lookAt: 'Veja o workflow {workflow}',
    confirm:
      'Compare o total com a sua origem. Se estiver certo, envie o update confirmTotal com {input}; se não, cancelRemaining',
    why: 'porque está certo',
    resume: 'Envie o update resume para continuar, ou cancelRemaining',
    settleNow: 'Nada. O update settleNow consulta o serviço de imediato, em vez de esperar',
    problems: 'Nada por agora. A query problems mostra o que está sem emissão confirmada',
    nothing: 'Nada',
    unreported:
      'Nada: o relatório não pôde ser escrito, e a próxima reconciliação escreve-o. A falha desta execução diz porquê',
    refused: 'Veja no relatório porque foi recusado o ficheiro, corrija-o e deposite-o de novo',
    allOut: 'Nada: todas as faturas foram emitidas',
    totalsDiffer:
      'Todas as faturas do ficheiro foram emitidas, mas ele não tem os totais declarados: compare-o com a origem',
    contradicted: {
      one: '{n} fatura foi emitida, mas pode existir duas vezes, ou ter falhado: confirme-a no serviço e não a envie de novo',
      other:
        '{n} faturas foram emitidas, mas podem existir duas vezes, ou ter falhado: confirme-as no serviço e não as envie de novo',
    },
    notOut: {
      one: '{n} fatura está sem emissão confirmada. Corrija as linhas no ficheiro de correções e deposite-o; ou envie o mesmo de novo: inicie o workflow retryInvoices com {input}',
      other:
        '{n} faturas estão sem emissão confirmada. Corrija as linhas no ficheiro de correções e deposite-o; ou envie o mesmo de novo: inicie o workflow retryInvoices com {input}',
    },
  },
  night: {
    summary: 'Resumo',
    night: 'Noite',
    notOpened: '(ainda não começou)',
    phases: { looking: 'a procurar ficheiros', running: 'em curso', done: 'terminada' },
    filesDone: '{done} de {all} ficheiros concluídos',
    running: 'o lote está em curso',
    more: 'mais {n} no resumo',
    file: 'Ficheiro',
    outcome: 'Resultado',
  },
  reconciliation: {
    repeated: 'Faturas «unknown» repetidas',
    found: 'das quais encontradas',
    asked: 'Documentos consultados',
    settled: 'dos quais com palavra final',
    stopped: 'Lotes parados, em que não se toca',
    orphans: 'Lotes sem execução, fechados',
    reports: 'Relatórios escritos de novo',
    unwritten: 'Relatórios que não puderam ser escritos',
    service: 'O serviço',
    serviceAway: 'não respondeu; o resto fica para a próxima vez',
    profileFoundWrong: 'não foi consultado sobre o resto: o seu perfil revelou-se errado',
  },
};
