import type { FigureTexts } from '../figure-texts.ts';

/** Portuguese words of pictures. */
export const FIGURE_TEXTS_PT: FigureTexts = {
  figures: {
    title: 'Números',
    note: 'As últimas {n} noites, pelo dia em que cada ficheiro foi lido, como diz o seu último relatório.',
    none: 'Ainda não há relatórios destas noites.',
    without: {
      one: '{n} lote não está nas imagens: ainda não tem relatório, ou tem o de um Lote mais antigo.',
      other: '{n} lotes não estão nas imagens: ainda não têm relatório, ou têm o de um Lote mais antigo.',
    },
    cut: 'Houve mais lotes do que os que aqui se veem: as noites mais antigas não estão completas.',
    outcomes: 'Faturas',
    fates: {
      issued: 'emitidas',
      failed: 'falhadas ou recusadas',
      notSent: 'não enviadas',
      open: 'sem palavra final',
      before: 'emitidas por outro ficheiro',
    },
    amount: 'Valor líquido em {currency}, sem imposto',
    money: { out: 'emitido', left: 'sem emissão confirmada', before: 'emitido por outro ficheiro' },
    below: 'As somas abaixo de zero não são desenhadas; estão na tabela.',
    settling: 'Do primeiro envio à palavra final',
    median: 'metade das faturas em até',
    most: '95 em 100 em até',
    upTo: 'no máximo {value}',
    reasons: 'Porque há faturas sem emissão confirmada',
    otherReasons: 'outras razões',
    table: 'As noites em tabela',
    reasonTable: 'As razões em tabela',
  },
  pace: {
    title: 'Enviadas e concluídas até agora',
    sent: 'enviadas',
    settled: 'concluídas',
    rate: '{n} concluídas por segundo no último minuto.',
    left: 'Faltam cerca de {time}.',
    notMoving: 'Nada foi concluído no último minuto, por isso ninguém pode dizer quanto falta.',
    unknown: 'Ainda não se sabe a que ritmo avança: mede-se durante um minuto enquanto alguém olha.',
    table: 'A linha em tabela',
    note: 'A linha começa com o ficheiro; pelo meio, é o que esta consola viu enquanto alguém olhava.',
  },
};
