import type { FigureTexts } from '../figure-texts.ts';

/** Spanish words of pictures. */
export const FIGURE_TEXTS_ES: FigureTexts = {
  figures: {
    title: 'Cifras',
    note: 'Las últimas {n} noches, por el día en que se leyó cada archivo, como dice su último informe.',
    none: 'Todavía no hay informes de estas noches.',
    without: {
      one: '{n} lote no está en las imágenes: todavía no tiene informe, o tiene el de un Lote más antiguo.',
      other: '{n} lotes no están en las imágenes: todavía no tienen informe, o tienen el de un Lote más antiguo.',
    },
    cut: 'Hubo más lotes de los que aquí se miran: las noches más antiguas no están completas.',
    outcomes: 'Facturas',
    fates: {
      issued: 'emitidas',
      failed: 'fallidas o rechazadas',
      notSent: 'no enviadas',
      open: 'sin palabra final',
      before: 'emitidas por otro archivo',
    },
    amount: 'Importe neto en {currency}, sin impuestos',
    money: { out: 'emitido', left: 'sin emisión confirmada', before: 'emitido por otro archivo' },
    below: 'Las sumas por debajo de cero no se dibujan; están en la tabla.',
    settling: 'Del primer envío a la palabra final',
    median: 'la mitad de las facturas en hasta',
    most: '95 de 100 en hasta',
    upTo: 'como máximo {value}',
    reasons: 'Por qué hay facturas sin emisión confirmada',
    otherReasons: 'otras razones',
    table: 'Las noches en una tabla',
    reasonTable: 'Las razones en una tabla',
  },
  pace: {
    title: 'Enviadas y resueltas hasta ahora',
    sent: 'enviadas',
    settled: 'resueltas',
    rate: '{n} resueltas por segundo en el último minuto.',
    left: 'Quedan unos {time}.',
    notMoving: 'No se resolvió nada en el último minuto, así que nadie puede decir cuánto falta.',
    unknown: 'Todavía no se sabe a qué ritmo avanza: se mide durante un minuto mientras alguien mira.',
    table: 'La línea en una tabla',
    note: 'La línea empieza con el archivo; en medio, es lo que esta consola vio mientras alguien miraba.',
  },
};
