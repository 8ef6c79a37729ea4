import type { ReportTexts } from './report-texts.ts';

const AT_WORK = 'O lote ainda está a tratar delas.';

/** Portuguese texts of the report. */
export const REPORT_TEXTS_PT: ReportTexts = {
  title: '{file}: relatório do lote',
  batch: 'Lote',
  application: 'aplicação {name}',
  started: 'Início: {started}.',
  startedAndFinished: 'Início: {started}; fim: {finished}.',
  revision: 'Relatório {n}, escrito em {time}.',
  batchStates: {
    refused: 'recusado',
    running: 'em curso',
    paused: 'em pausa',
    cancelled: 'cancelado',
    finished: 'terminado',
  },
  invoices: { one: '{n} fatura', other: '{n} faturas' },
  rows: { one: '{n} linha', other: '{n} linhas' },
  verdict: {
    title: 'Resultado',
    refused: 'O ficheiro foi recusado. Nada foi enviado.',
    allOut: 'Tudo foi emitido: {invoices}, {rows}.',
    rowsLeft:
      'Todas as faturas foram emitidas ({invoices}), mas algumas linhas não puderam ser tomadas por faturas. Veja «O ficheiro», abaixo.',
    totalsDiffer:
      'Todas as faturas foram emitidas ({invoices}), mas o ficheiro não tem os totais de controlo declarados. Veja «O ficheiro», abaixo.',
    notAll: {
      one: 'Nem tudo tem emissão confirmada: falta a de {n} de {invoices}.',
      other: 'Nem tudo tem emissão confirmada: falta a de {n} de {invoices}.',
    },
    moneyOut: 'Emitido, valor líquido sem imposto: {amounts}.',
    partOf: '{out} de {all}',
    row: 'Linha {n}: ',
    refusedNext: 'O que fazer a seguir: corrija o ficheiro e deposite-o de novo.',
    corrections: 'Ficheiro de correções:',
    correctionsHold:
      'tem todas as linhas que os serviços administrativos podem corrigir, com o motivo no fim de cada uma.',
    workbookHolds:
      'tem todas as linhas que os serviços administrativos podem corrigir, com cada célula errada assinalada, uma nota que diz porquê e o motivo no fim de cada linha.',
    misfit: 'Alerta: o perfil do serviço não corresponde ao serviço.',
  },
  doers: {
    'back-office': 'A fazer pelos serviços administrativos',
    operator: 'A fazer por um operador do Lote',
    lote: 'Nada a fazer: o Lote continua sozinho',
  },
  states: {
    issued: { label: 'Emitida', next: null },
    'already-issued': { label: 'Já emitida por um ficheiro anterior; não voltou a ser enviada', next: null },
    invalid: {
      label: 'Não enviada: há uma linha errada',
      next: 'Corrija estas linhas no ficheiro de correções e deposite esse ficheiro.',
    },
    rejected: {
      label: 'Recusada pelo serviço',
      next: 'Corrija estas faturas no ficheiro de correções e deposite esse ficheiro.',
    },
    failed: {
      label: 'O serviço não conseguiu emiti-la',
      next: 'Se o conteúdo estiver errado, corrija-o no ficheiro de correções e deposite esse ficheiro. Se estiver certo, um operador pode enviar o lote de novo.',
    },
    conflict: {
      label: 'Mesmo emitente e referência, outro conteúdo, já conhecidos de um ficheiro anterior',
      next: 'Decida que conteúdo está certo. Uma fatura nova precisa de uma referência nova.',
    },
    held: {
      label: 'Retida, não enviada',
      next: 'Elimine a causa indicada em «Porquê» e execute o ficheiro de novo ou reenvie o lote. Onde faltam dados do emitente, os serviços administrativos acrescentam-nos no ficheiro de correções.',
    },
    unknown: {
      label: 'Pode ter sido emitida; não chegou resposta',
      next: 'Não as envie noutro ficheiro. Enquanto o serviço se lembra da chave, o Lote volta a perguntar sozinho; um operador pode apressá-lo com reconcile. Depois disso, e onde «Porquê» diz key-known-with-other-bytes ou deixa a decisão a um operador, pergunte ao serviço o que foi feito de cada uma e depois reenvie-a pela sua referência (retry).',
    },
    unsettled: {
      label: 'Aceite pelo serviço, ainda sem palavra final',
      next: 'Não as envie noutro ficheiro. O Lote continua a perguntar e reescreve este relatório.',
    },
    staged: { label: 'À espera de envio', next: AT_WORK },
    sending: { label: 'A ser enviada', next: AT_WORK },
    accepted: { label: 'Aceite, à espera da palavra final', next: AT_WORK },
  },
  reasons: {
    title: 'Porquê',
    label: 'Motivos',
    state: 'Estado',
    invoices: 'Faturas',
    reason: 'Motivo',
    examples: 'Por exemplo',
  },
  rowList: {
    none: 'nenhuma linha',
    named: { one: 'linha {rows}', other: 'linhas {rows}' },
    more: '{rows} e mais {n}',
  },
  totals: {
    title: 'Totais',
    note: 'Valor líquido sem imposto, exato, como no ficheiro: a soma dos estados é a de todas as faturas.',
    net: 'Valor líquido',
    noCurrency: 'sem moeda',
    all: 'todas as faturas',
    number: 'número de faturas',
    unreadable: 'das quais sem valor legível',
  },
  file: {
    title: 'O ficheiro',
    counts: '{rows} linhas: {taken} em {invoices} faturas, {left} sem fatura.',
    findings: 'Observações sobre o ficheiro',
    severity: 'Gravidade',
    severities: { error: 'erro', warning: 'aviso', info: 'nota' },
    row: 'Linha',
    column: 'Coluna',
    finding: 'Observação',
    more: 'Mais {n} em report.json.',
  },
  proof: {
    title: 'Como foi lido:',
    names: { encoding: 'codificação', delimiter: 'separador', decimal: 'separador decimal', ignored: 'ignoradas' },
    inColumn: '{name} em {column}',
    yes: 'sim',
    how: { proved: 'provado', declared: 'declarado' },
    witness: '(linha {row}: {value})',
    marks: { comma: 'vírgula', semicolon: 'ponto e vírgula', point: 'ponto', tab: 'tabulação', bar: 'barra' },
  },
  settling: {
    title: 'Quanto demorou a palavra final',
    sentence: 'Metade das faturas teve a palavra final até {half} depois do primeiro POST, 95 em cada 100 até {most}.',
    table: 'Em tabela',
    within: 'Até',
    invoices: 'Faturas',
  },
  changes: {
    label: 'Alterações',
    title: 'Alterado desde o relatório {n}',
    none: 'Nenhuma fatura mudou de estado.',
    inDoubt: 'Faturas emitidas que estão em dúvida: {n}; antes, {before}.',
    was: 'Era',
    is: 'É',
    invoices: 'Faturas',
    examples: 'Entre elas',
  },
  audit: {
    label: 'Feito à mão',
    title: 'O que foi feito',
    when: 'Quando',
    who: 'Quem',
    what: 'O quê',
    why: 'Porquê',
    nobody: 'não se sabe',
    risk: 'Foi aceite o risco de um duplicado.',
    actions: {
      retry: 'enviadas de novo',
      pause: 'posto em pausa',
      resume: 'retomado',
      'cancel-remaining': 'o resto foi cancelado',
      'settle-now': 'o serviço foi consultado de imediato',
      start: 'o ficheiro foi iniciado',
      reconcile: 'o serviço foi consultado de novo',
      'confirm-total': 'o total foi confirmado',
    },
    moves: {
      release: 'libertada',
      regenerate: 'enviada de novo com uma chave nova',
      repeat: 'enviada de novo com a mesma chave',
      abandon: 'enviada de novo com uma chave nova, a primeira ficou por esclarecer',
    },
  },
  list: {
    notOut: 'Faturas sem emissão confirmada',
    inDoubt: 'Em dúvida, a confirmar no serviço',
    out: 'Faturas que foram emitidas',
    rest: 'Nesta página estão só as primeiras {n} de {of}, para que abra de imediato. Estão todas em',
    and: 'e',
    restPlaces: 'ao lado dela, e na consola.',
    range: '{from} a {to}',
    reference: 'Referência',
    merchant: 'Emitente',
    net: 'Valor líquido',
    rows: 'Linhas',
    serviceId: 'Id do serviço',
  },
  notes: {
    'webhooks-unreadable': {
      one: 'Alerta: desde que este lote começou, {n} webhook com assinatura correta não pôde ser lido. O livro de registo guarda os bytes; compare-os com o perfil do serviço (event). As respostas finais foram obtidas por consulta (GET).',
      other:
        'Alerta: desde que este lote começou, {n} webhooks com assinatura correta não puderam ser lidos. O livro de registo guarda os bytes; compare-os com o perfil do serviço (event). As respostas finais foram obtidas por consulta (GET).',
    },
    'webhooks-of-unknown-invoices': {
      one: 'Alerta: desde que este lote começou, {n} webhook falou de faturas que aqui ninguém conhece: de outra aplicação, ou de um POST cuja resposta se perdeu. O livro de registo guarda-o e aplica-o quando encontrar a sua fatura.',
      other:
        'Alerta: desde que este lote começou, {n} webhooks falaram de faturas que aqui ninguém conhece: de outra aplicação, ou de um POST cuja resposta se perdeu. O livro de registo guarda-os e aplica-os quando encontrar as suas faturas.',
    },
    'no-corrections':
      'Não há ficheiro de correções: o ficheiro original não pôde ser lido de novo tal como era. Corrija as linhas no ficheiro original e deposite esse.',
    'corrections-incomplete':
      'Não há ficheiro de correções: há mais linhas fora de qualquer fatura do que as que aqui constam, e sem elas poderiam faltar-lhe linhas de faturas. Corrija as linhas no ficheiro original e deposite esse.',
    'corrections-as-csv':
      'O ficheiro de correções é CSV e não um livro de folhas de cálculo. Em inglês: {cause}. Cada linha diz no fim o que está errado; guardado como livro, também é lido.',
    'no-webhook-url':
      'WEBHOOK_URL não está definido: não foi registado nenhum webhook, e as respostas finais foram obtidas só por consulta (GET).',
    'no-webhook-secret':
      'Alerta: o serviço não deu nenhum segredo ao registar o webhook, e WEBHOOK_SECRET não está definido: todas as entregas foram recusadas, e as respostas finais foram obtidas só por consulta (GET).',
    'no-address-secret':
      'Alerta: segundo o perfil do serviço (signature.kind), o segredo faz parte do endereço do webhook, e WEBHOOK_SECRET não está definido: não foi registado nenhum webhook, e as respostas finais foram obtidas só por consulta (GET). Defina WEBHOOK_SECRET.',
    'webhook-not-by-lote':
      'Segundo o perfil do serviço (webhook.register), o Lote não regista nenhum webhook, e WEBHOOK_SECRET não está definido: as respostas finais foram obtidas só por consulta (GET).',
    'webhook-registered-elsewhere':
      'Outro processo estava a registar o webhook quando o lote começou: até o ter feito, as respostas finais foram obtidas só por consulta (GET).',
    'registration-lost':
      'Perdeu-se a resposta ao registo do webhook ({code}): as respostas finais foram obtidas só por consulta (GET), e o lote seguinte volta a registá-lo.',
    'registration-refused':
      'O serviço não registou o webhook ({code}): as respostas finais foram obtidas só por consulta (GET).',
    'registered-before': {
      one: 'Alerta: o webhook já tinha sido registado uma vez sem que a resposta ficasse guardada (uma falha do processo, ou uma resposta perdida). O serviço pode ter o endereço mais de uma vez; as entregas assinadas com um segredo que nunca chegou são recusadas (401), e as mesmas notícias chegam pelo registo conhecido. Remova o outro no serviço.',
      other:
        'Alerta: o webhook já tinha sido registado {n} vezes sem que a resposta ficasse guardada (uma falha do processo, ou uma resposta perdida). O serviço pode ter o endereço mais de uma vez; as entregas assinadas com um segredo que nunca chegou são recusadas (401), e as mesmas notícias chegam pelo registo conhecido. Remova o outro no serviço.',
    },
  },
};
