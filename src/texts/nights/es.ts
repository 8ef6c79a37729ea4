import { OUTCOME_TEXTS_ES } from '../outcomes/es.ts';
import type { NightTexts } from './en.ts';

/** Spanish words about nights. */
export const NIGHT_TEXTS_ES: NightTexts = {
  ...OUTCOME_TEXTS_ES,
  nights: {
    title: 'Noches',
    none: 'Todavía no hubo ninguna noche. Los archivos de la carpeta de entrada se recogen de noche después de: lote nightly on',
    night: 'Noche',
    files: 'Archivos',
    outcome: 'Resultado',
    issued: 'Emitidas',
    know: 'Qué conviene saber',
    run: 'Ejecución de las',
    waitingFiles: 'Todavía a la espera',
    unreadable: 'El resumen de esta noche no se puede leer.',
    unended: 'Esta noche no ha terminado: {n} [archivo|archivos] hasta ahora.',
    allOut: 'Se emitió todo: {n} [archivo|archivos].',
    empty: 'No se depositó ningún archivo.',
    open: '{n} de {of} archivos [necesita|necesitan] a alguien.',
    asOf: 'Tal como estaba cuando terminó la ejecución, {time}. El informe de cada lote, o su página en la consola mientras siga en curso, dice cómo está ahora.',
    asOfEach: 'Cada línea dice cómo estaba cuando terminó la noche.',
    verdicts: {
      issued: 'todo emitido',
      attention: 'necesita a alguien',
      refused: 'rechazado',
      failed: 'la ejecución falló',
    },
    waiting: {
      growing: 'Todavía se estaba escribiendo. La noche siguiente mira de nuevo.',
      empty: 'Todavía no tiene contenido. La noche siguiente mira de nuevo.',
      'not-movable': 'El sistema no dejó que Lote lo moviera: compruebe de quién son el archivo y la carpeta.',
      'other-ledger':
        'Una noche de otro Lote, con un registro propio, ya lo tomó en esta carpeta. Dé a cada uno su carpeta de entrada; si ese Lote ya no existe, mueva el archivo de in-progress de vuelta a la carpeta de entrada.',
      'too-many': 'Una noche recoge un número limitado de archivos. La noche siguiente continúa.',
      unfinished: 'La noche no pudo llevarlo a su fin. Está en in-progress; la noche siguiente continúa con él.',
      changed:
        'Se escribió en él después de leerlo: lo que tiene de nuevo no se leyó y no está en ningún informe. Deposítelo de nuevo: nada se envía dos veces.',
    },
  },
  morning: {
    subject: 'Lote ({application}), noche del {date}: {outcome}',
    wentOut: 'Se [emitió|emitieron] {n} de {of} facturas.',
    wentOutBefore: 'Se [emitió|emitieron] {n} de {of} facturas, {before} [|de ellas ]por un archivo anterior.',
    needs: 'Lo que necesita a alguien',
    more: 'Hay {n} más en la página de la noche.',
    page: 'La página de la noche',
    channels: { email: 'Mensaje por correo' },
    states: {
      sent: 'enviado el {time}.',
      unsent: 'todavía sin enviar, último intento el {time}.',
      refused: 'sin enviar, y sin más intentos desde el {time}.',
    },
  },
  remarks: {
    resumed: 'Una noche anterior lo había recogido y fue interrumpida; esta noche se ha hecho cargo de él.',
    'dropped-before':
      'Los mismos bytes ya se habían depositado, el {time}, como {file}: es el mismo lote, y nada de lo que se envió se vuelve a enviar.',
    'run-failed': 'La ejecución terminó sin resultado ({code}). Mensaje, en inglés: {message}',
    'drop-again':
      'Lo que se envió está en el libro de registro. Deposite el archivo de nuevo: sigue donde se detuvo, y nada se envía dos veces.',
    held: 'Retenido: no se envió nada de él, porque su total es inusual. En inglés: {difference}',
    paused:
      'Un operador lo puso en pausa, y la noche no lo esperó: no se envía nada más de él hasta que alguien lo reanude, en la página del lote en la consola o en la interfaz de Temporal. Entonces continúa por sí solo, y su informe dice qué fue de él.',
    'confirm-total':
      'Si el total es correcto, confírmelo en la página del lote en la consola, o con {command}. El lote se envía entonces de inmediato. Si no lo es, cancele el lote.',
    refused: 'Rechazado: no se envió nada de él. El informe dice por qué. Corrija el archivo y deposítelo de nuevo.',
    stopped: 'Detenido el {time}: {what}, por {who} ({why}).',
    'person-continues': 'Ninguna noche ni conciliación envía más de él. Una persona lo continúa con {command}.',
    stops: {
      paused: 'en pausa',
      cancelled: 'cancelado',
      terminated: 'su ejecución se terminó en Temporal',
      deleted: 'su ejecución se eliminó en Temporal',
      held: 'retenido por su inicio',
    },
    unnamed: 'un operador sin nombre',
    noReason: 'sin motivo indicado',
    'read-report': 'El informe dice qué hacer con cada una.',
    'use-corrections':
      'Corrija las filas en el archivo de correcciones y deposite ese archivo; el informe dice qué pasa con cada una.',
    'events-of-unknown-invoices':
      '{n} [evento firmado habló|eventos firmados hablaron] de [un documento|documentos] que ninguna factura tiene: [puede|pueden] ser [el|los] de [una factura|facturas] sin respuesta o [rechazada. Búsquelo|rechazadas. Búsquelos] en el servicio antes de enviar de nuevo [esa factura|esas facturas].',
  },
  nightFile: {
    title: 'Noche del {date}',
    counts:
      'Archivos: {issued} emitidos por completo, {attention} que necesitan a alguien, {refused} rechazados, {failed} con la ejecución fallida, {waiting} todavía a la espera. {notIssued} de {invoices} facturas están sin emisión confirmada.',
    unfinishedTimes:
      'Inicio: {started}; no ha terminado. Si se interrumpió, la noche siguiente continúa con lo que quedó; mientras siga en marcha, no empieza otra noche.',
    noBatch: 'ninguno',
    report: 'Informe',
    corrections: 'Correcciones',
  },
};
