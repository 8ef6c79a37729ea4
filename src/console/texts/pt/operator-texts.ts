import type { OperatorTexts } from '../operator-texts.ts';

/** Portuguese texts of the forms with which an operator acts. */
export const OPERATOR_TEXTS_PT: OperatorTexts = {
  retry: {
    title: 'Enviar de novo',
    note: 'As faturas falhadas e recusadas vão com uma chave nova, as retidas tal como estão. O que foi emitido nunca é enviado outra vez.',
    repeatNote:
      'Não chegou resposta. O mesmo pedido vai outra vez com a mesma chave: o serviço diz então o que lhe aconteceu.',
    states: 'Faturas no estado',
    button: 'Enviar de novo',
    risk: 'Aceito que esta fatura possa ser emitida duas vezes.',
    riskNote: 'Só onde o Lote não pode provar que o primeiro pedido não deixou nada. Fica registado na auditoria.',
    started: 'Estão a ser retomadas. Esta página acompanha.',
    joined: 'O lote está em curso: retoma-as quando as suas páginas terminarem.',
    moved: { one: 'Enviada de novo: {n} fatura.', other: 'Enviadas de novo: {n} faturas.' },
    left: { one: '{n} fatura ficou como está:', other: '{n} faturas ficaram como estão:' },
    refusals: {
      'state-not-retryable': 'um estado destes não é enviado de novo',
      'generations-spent': 'enviada tantas vezes quantas o perfil do serviço permite (retry.maxGenerations)',
      'needs-accept-duplicate-risk': 'poderia ser emitida duas vezes, e ninguém aceitou esse risco',
      'owned-by-running-batch': 'pertence a outro lote em curso',
      'total-unconfirmed':
        'ninguém confirmou o total invulgar do ficheiro. Inicie ou deixe o ficheiro de novo, o que volta a perguntar, e confirme o total',
    },
  },
  reconcile: {
    title: 'Ainda sem palavra final',
    note: 'Aqui o Lote pergunta já, por tudo o que qualquer lote deixou em aberto e que ainda se pode perguntar. Faz o mesmo sozinho, tanto mais raramente quanto mais antiga é a fatura, e não repete nenhum pedido depois de o serviço poder ter esquecido a chave. Onde o motivo deixa a decisão a um operador, pergunte ao serviço o que foi feito dela e depois reenvie-a pela sua referência.',
    button: 'Perguntar já ao serviço',
    started: 'O serviço está a ser consultado. Veja de novo daqui a pouco.',
    asked: 'Consultados {asked} documentos, {settled} deles têm agora palavra final.',
    repeated: 'Repetidos {repeated} pedidos sem resposta, {found} deles foram encontrados.',
    closed:
      'Lotes sem execução que foram fechados: {closed}. O que deixaram como «unknown» não foi repetido: leia os relatórios e depois consulte outra vez.',
    unanswered: 'O serviço não responde; o resto fica para a próxima vez.',
    profileFoundWrong:
      'O resto não foi consultado, porque o perfil do serviço se revelou errado. Alguém tem de o corrigir e iniciar o Lote de novo.',
  },
  audit: {
    title: 'Feito à mão',
    none: 'Nada foi feito à mão.',
    note: 'Tudo o que alguém, ou a política de repetição, fez a este lote. Está também no relatório, salvo as descargas.',
    who: 'Quem',
    why: 'Porquê',
    examples: 'Entre elas',
    download: 'Descarregar (CSV)',
    risk: 'Foi aceite o risco de um duplicado.',
    somebody: 'não se sabe',
    moves: {
      release: 'libertada',
      regenerate: 'enviada de novo com uma chave nova',
      repeat: 'enviada de novo com a mesma chave',
      abandon: 'enviada de novo com uma chave nova, a primeira ficou por esclarecer',
    },
    actions: {
      retry: 'enviadas de novo',
      pause: 'em pausa',
      resume: 'retomado',
      'cancel-remaining': 'nada mais enviado',
      'settle-now': 'serviço consultado de imediato',
      'confirm-total': 'total confirmado',
      'save-profile': 'guardou um perfil do serviço',
      start: 'iniciou o ficheiro',
      reconcile: 'consultou o serviço de novo',
      download: 'descarregou',
    },
  },
  total: {
    state: 'retido: confirmar o total',
    title: 'Confirmar o total',
    sentence:
      'Ainda nada deste ficheiro foi enviado: o seu total difere mais de {factor} vezes do dos últimos {n} ficheiros com o nome {pattern}.',
    note: 'Compare-o com a origem do ficheiro. Se estiver certo, escreva o número de faturas: o lote é então enviado de imediato. Se estiver errado, não envie mais nada, abaixo.',
    found: 'Este ficheiro',
    usual: 'Habitual',
    number: 'Número de faturas',
    button: 'O total está certo: enviar',
    done: 'O total está confirmado. O lote está a ser enviado.',
    compared: {
      title: 'Total do ficheiro',
      usual: 'como é habitual: comparado com os últimos {n} ficheiros com o nome {pattern}',
      tooFew: 'não comparado: {n} de {needed} ficheiros anteriores com o nome {pattern}',
      confirmed: 'invulgar, e confirmado por um operador',
      declared: 'declarado ao iniciar o lote',
      corrections: 'sem comparação: é um ficheiro de correções',
      off: 'não comparado',
    },
  },
  people: {
    signedInAs: 'Sessão de',
    roles: { look: 'pode consultar', operate: 'pode operar' },
    roleMissing: 'Pode consultar, mas não agir.',
    roleMissingNote: 'Nada foi feito. Quem gere esta instalação decide quem pode operar.',
  },
  withoutTemporal:
    'Esta consola só mostra: sem TEMPORAL_ADDRESS não pode verificar nem iniciar ficheiros, pausar lotes ou enviar de novo.',
};
