import { OUTCOME_TEXTS_PT } from '../outcomes/pt.ts';
import type { NightTexts } from './en.ts';

/** Portuguese words about nights. */
export const NIGHT_TEXTS_PT: NightTexts = {
  ...OUTCOME_TEXTS_PT,
  nights: {
    title: 'Noites',
    none: 'Ainda não houve nenhuma noite. Os ficheiros da pasta de entrada são recolhidos à noite depois de: lote nightly on',
    night: 'Noite',
    files: 'Ficheiros',
    outcome: 'Resultado',
    issued: 'Emitidas',
    know: 'O que convém saber',
    run: 'Execução de',
    waitingFiles: 'Ainda à espera',
    unreadable: 'O resumo desta noite não se consegue ler.',
    unended: 'Esta noite não terminou: {n} [ficheiro|ficheiros] até agora.',
    allOut: 'Foi tudo emitido: {n} [ficheiro|ficheiros].',
    empty: 'Nenhum ficheiro foi depositado.',
    open: '{n} de {of} ficheiros [precisa|precisam] de alguém.',
    asOf: 'Tal como estava quando a execução terminou, {time}. O relatório de cada lote, ou a sua página na consola enquanto decorre, diz como está agora.',
    asOfEach: 'Cada linha diz como estava quando a noite terminou.',
    verdicts: {
      issued: 'tudo emitido',
      attention: 'precisa de alguém',
      refused: 'recusado',
      failed: 'a execução falhou',
    },
    waiting: {
      growing: 'Ainda estava a ser escrito. A noite seguinte vê de novo.',
      empty: 'Ainda não tem conteúdo. A noite seguinte vê de novo.',
      'not-movable': 'O sistema não deixou o Lote movê-lo: verifique de quem são o ficheiro e a pasta.',
      'other-ledger':
        'Uma noite de outro Lote, com um registo próprio, já o tomou nesta pasta. Dê a cada um a sua pasta de entrada; se esse Lote já não existe, mova o ficheiro de in-progress de volta para a pasta de entrada.',
      'too-many': 'Uma noite recolhe um número limitado de ficheiros. A noite seguinte continua.',
      unfinished: 'A noite não conseguiu levá-lo ao fim. Está em in-progress; a noite seguinte continua com ele.',
      changed:
        'Foi alterado depois de lido: o que tem de novo não foi lido e não está em nenhum relatório. Deposite-o de novo: nada é enviado duas vezes.',
    },
  },
  morning: {
    subject: 'Lote ({application}), noite de {date}: {outcome}',
    wentOut: '{n} de {of} faturas [foi emitida|foram emitidas].',
    wentOutBefore: '{n} de {of} faturas [foi emitida|foram emitidas], {before}[| das quais] por um ficheiro anterior.',
    needs: 'O que precisa de alguém',
    more: 'Há mais {n} na página da noite.',
    page: 'A página da noite',
    channels: { email: 'Mensagem por e-mail' },
    states: {
      sent: 'enviada em {time}.',
      unsent: 'ainda não enviada, última tentativa em {time}.',
      refused: 'não enviada, e sem novas tentativas desde {time}.',
    },
  },
  remarks: {
    resumed: 'Uma noite anterior tinha-o recolhido e foi interrompida; esta noite ficou com ele.',
    'dropped-before':
      'Os mesmos bytes já tinham sido depositados, em {time}, como {file}: é o mesmo lote, e nada do que foi enviado volta a ser enviado.',
    'run-failed': 'A execução terminou sem resultado ({code}). Mensagem, em inglês: {message}',
    'drop-again':
      'O que já foi enviado está no livro de registo. Deposite o ficheiro de novo: continua onde parou, e nada é enviado duas vezes.',
    held: 'Retido: nada dele foi enviado, porque o total é invulgar. Em inglês: {difference}',
    paused:
      'Um operador pô-lo em pausa, e a noite não esperou: nada mais dele é enviado até alguém o retomar, na página do lote na consola ou na interface do Temporal. Depois continua por si, e o relatório diz o que foi feito dele.',
    'confirm-total':
      'Se o total estiver certo, confirme-o na página do lote na consola, ou com {command}. O lote é então enviado de imediato. Se estiver errado, cancele o lote.',
    refused: 'Recusado: nada dele foi enviado. O relatório diz porquê. Corrija o ficheiro e deposite-o de novo.',
    stopped: 'Parado em {time}: {what}, por {who} ({why}).',
    'person-continues': 'Nenhuma noite nem reconciliação envia mais dele. Uma pessoa continua-o com {command}.',
    stops: {
      paused: 'em pausa',
      cancelled: 'cancelado',
      terminated: 'a sua execução foi terminada no Temporal',
      deleted: 'a sua execução foi eliminada no Temporal',
      held: 'retido pelo seu início',
    },
    unnamed: 'um operador sem nome',
    noReason: 'sem motivo indicado',
    'read-report': 'O relatório diz, para cada uma, o que fazer a seguir.',
    'use-corrections':
      'Corrija as linhas no ficheiro de correções e deposite esse ficheiro; o relatório diz o que se passa com cada uma.',
    'events-of-unknown-invoices':
      '{n} [evento assinado falou|eventos assinados falaram] de [um documento|documentos] que nenhuma fatura tem: [pode|podem] ser [o|os] de [uma fatura|faturas] sem resposta ou [recusada. Procure-o|recusadas. Procure-os] no serviço antes de enviar de novo [essa fatura|essas faturas].',
  },
  nightFile: {
    title: 'Noite de {date}',
    counts:
      'Ficheiros: {issued} emitidos por inteiro, {attention} que precisam de alguém, {refused} recusados, {failed} com a execução falhada, {waiting} ainda à espera. {notIssued} de {invoices} faturas estão sem emissão confirmada.',
    unfinishedTimes:
      'Início: {started}; não terminou. Se foi interrompida, a noite seguinte continua com o que ficou; enquanto decorrer, não começa outra noite.',
    noBatch: 'nenhum',
    report: 'Relatório',
    corrections: 'Correções',
  },
};
