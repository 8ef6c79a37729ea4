import type { ReportTexts } from './report-texts.ts';

const AT_WORK = 'El lote todavía está trabajando en ellas.';

/** Spanish texts of the report. */
export const REPORT_TEXTS_ES: ReportTexts = {
  title: '{file}: informe del lote',
  batch: 'Lote',
  application: 'aplicación {name}',
  started: 'Inicio: {started}.',
  startedAndFinished: 'Inicio: {started}; fin: {finished}.',
  revision: 'Informe {n}, escrito el {time}.',
  batchStates: {
    refused: 'rechazado',
    running: 'en curso',
    paused: 'en pausa',
    cancelled: 'cancelado',
    finished: 'terminado',
  },
  invoices: { one: '{n} factura', other: '{n} facturas' },
  rows: { one: '{n} fila', other: '{n} filas' },
  verdict: {
    title: 'Resultado',
    refused: 'El archivo fue rechazado. No se envió nada.',
    allOut: 'Se emitió todo: {invoices}, {rows}.',
    rowsLeft:
      'Se emitieron todas las facturas ({invoices}), pero algunas filas no se pudieron tomar por facturas. Vea «El archivo», más abajo.',
    totalsDiffer:
      'Se emitieron todas las facturas ({invoices}), pero el archivo no tiene los totales de control declarados. Vea «El archivo», más abajo.',
    notAll: {
      one: 'No todo tiene emisión confirmada: falta la de {n} de {invoices}.',
      other: 'No todo tiene emisión confirmada: falta la de {n} de {invoices}.',
    },
    moneyOut: 'Emitido, importe neto sin impuestos: {amounts}.',
    partOf: '{out} de {all}',
    row: 'Fila {n}: ',
    refusedNext: 'Qué hacer ahora: corrija el archivo y deposítelo de nuevo.',
    corrections: 'Archivo de correcciones:',
    correctionsHold: 'tiene todas las filas que la administración puede corregir, con el motivo al final de cada una.',
    workbookHolds:
      'tiene todas las filas que la administración puede corregir, con cada celda errónea marcada, una nota que dice por qué y el motivo al final de cada fila.',
    misfit: 'Alerta: el perfil del servicio no corresponde al servicio.',
  },
  doers: {
    'back-office': 'Por hacer en administración',
    operator: 'Por hacer por un operador de Lote',
    lote: 'Nada que hacer: Lote sigue por sí mismo',
  },
  states: {
    issued: { label: 'Emitida', next: null },
    'already-issued': { label: 'Ya emitida por un archivo anterior; no se volvió a enviar', next: null },
    invalid: {
      label: 'No enviada: hay una fila errónea',
      next: 'Corrija estas filas en el archivo de correcciones y deposite ese archivo.',
    },
    rejected: {
      label: 'Rechazada por el servicio',
      next: 'Corrija estas facturas en el archivo de correcciones y deposite ese archivo.',
    },
    failed: {
      label: 'El servicio no pudo emitirla',
      next: 'Si el contenido es erróneo, corríjalo en el archivo de correcciones y deposite ese archivo. Si es correcto, un operador puede enviar el lote otra vez.',
    },
    conflict: {
      label: 'Mismo emisor y referencia, otro contenido, ya conocidos de un archivo anterior',
      next: 'Decida qué contenido es el correcto. Una factura nueva necesita una referencia nueva.',
    },
    held: {
      label: 'Retenida, no enviada',
      next: 'Elimine la causa indicada en «Por qué» y ejecute el archivo de nuevo o reenvíe el lote. Donde faltan datos del emisor, la administración los añade en el archivo de correcciones.',
    },
    unknown: {
      label: 'Puede haberse emitido; no llegó respuesta',
      next: 'No las envíe en otro archivo. Mientras el servicio recuerda la clave, Lote vuelve a preguntar por sí mismo; un operador puede adelantarlo con reconcile. Después, y donde «Por qué» dice key-known-with-other-bytes o deja la decisión a un operador, pregunte al servicio qué fue de cada una y después reenvíela por su referencia (retry).',
    },
    unsettled: {
      label: 'Aceptada por el servicio, aún sin palabra final',
      next: 'No las envíe en otro archivo. Lote sigue preguntando y reescribe este informe.',
    },
    staged: { label: 'A la espera de envío', next: AT_WORK },
    sending: { label: 'Enviándose', next: AT_WORK },
    accepted: { label: 'Aceptada, a la espera de la palabra final', next: AT_WORK },
  },
  reasons: {
    title: 'Por qué',
    label: 'Motivos',
    state: 'Estado',
    invoices: 'Facturas',
    reason: 'Motivo',
    examples: 'Por ejemplo',
  },
  rowList: {
    none: 'ninguna fila',
    named: { one: 'fila {rows}', other: 'filas {rows}' },
    more: '{rows} y {n} más',
  },
  totals: {
    title: 'Totales',
    note: 'Importe neto sin impuestos, exacto, como en el archivo: la suma de los estados es la de todas las facturas.',
    net: 'Importe neto',
    noCurrency: 'sin moneda',
    all: 'todas las facturas',
    number: 'número de facturas',
    unreadable: 'de ellas sin importe legible',
  },
  file: {
    title: 'El archivo',
    counts: '{rows} filas: {taken} en {invoices} facturas, {left} sin factura.',
    findings: 'Observaciones sobre el archivo',
    severity: 'Gravedad',
    severities: { error: 'error', warning: 'aviso', info: 'nota' },
    row: 'Fila',
    column: 'Columna',
    finding: 'Observación',
    more: '{n} más en report.json.',
  },
  proof: {
    title: 'Cómo se leyó:',
    names: { encoding: 'codificación', delimiter: 'separador', decimal: 'separador decimal', ignored: 'ignoradas' },
    inColumn: '{name} en {column}',
    yes: 'sí',
    how: { proved: 'probado', declared: 'declarado' },
    witness: '(fila {row}: {value})',
    marks: { comma: 'coma', semicolon: 'punto y coma', point: 'punto', tab: 'tabulador', bar: 'barra' },
  },
  settling: {
    title: 'Cuánto tardó la palabra final',
    sentence:
      'La mitad de las facturas tuvo su palabra final antes de {half} desde el primer POST, 95 de cada 100 antes de {most}.',
    table: 'En una tabla',
    within: 'Antes de',
    invoices: 'Facturas',
  },
  changes: {
    label: 'Cambios',
    title: 'Cambios desde el informe {n}',
    none: 'Ninguna factura cambió de estado.',
    inDoubt: 'Facturas emitidas que están en duda: {n}; antes, {before}.',
    was: 'Era',
    is: 'Es',
    invoices: 'Facturas',
    examples: 'Entre ellas',
  },
  audit: {
    label: 'Hecho a mano',
    title: 'Qué se hizo',
    when: 'Cuándo',
    who: 'Quién',
    what: 'Qué',
    why: 'Por qué',
    nobody: 'no se sabe',
    risk: 'Se aceptó el riesgo de un duplicado.',
    actions: {
      retry: 'enviadas otra vez',
      pause: 'puesto en pausa',
      resume: 'reanudado',
      'cancel-remaining': 'se canceló el resto',
      'settle-now': 'se preguntó al servicio de inmediato',
      start: 'se inició el archivo',
      reconcile: 'se volvió a preguntar al servicio',
      'confirm-total': 'se confirmó el total',
    },
    moves: {
      release: 'liberada',
      regenerate: 'enviada otra vez con una clave nueva',
      repeat: 'enviada otra vez con la misma clave',
      abandon: 'enviada otra vez con una clave nueva, la primera sin aclarar',
    },
  },
  list: {
    notOut: 'Facturas sin emisión confirmada',
    inDoubt: 'En duda, a comprobar en el servicio',
    out: 'Facturas que se emitieron',
    rest: 'En esta página están solo las primeras {n} de {of}, para que se abra al instante. Están todas en',
    and: 'y',
    restPlaces: 'junto a ella, y en la consola.',
    range: '{from} a {to}',
    reference: 'Referencia',
    merchant: 'Emisor',
    net: 'Importe neto',
    rows: 'Filas',
    serviceId: 'Id del servicio',
  },
  notes: {
    'webhooks-unreadable': {
      one: 'Alerta: desde que empezó este lote, {n} webhook con firma correcta no se pudo leer. El libro de registro guarda los bytes; compárelos con el perfil del servicio (event). Las respuestas finales se obtuvieron preguntando (GET).',
      other:
        'Alerta: desde que empezó este lote, {n} webhooks con firma correcta no se pudieron leer. El libro de registro guarda los bytes; compárelos con el perfil del servicio (event). Las respuestas finales se obtuvieron preguntando (GET).',
    },
    'webhooks-of-unknown-invoices': {
      one: 'Alerta: desde que empezó este lote, {n} webhook habló de facturas que aquí nadie conoce: de otra aplicación, o de un POST cuya respuesta se perdió. El libro de registro lo guarda y lo aplica cuando encuentre su factura.',
      other:
        'Alerta: desde que empezó este lote, {n} webhooks hablaron de facturas que aquí nadie conoce: de otra aplicación, o de un POST cuya respuesta se perdió. El libro de registro los guarda y los aplica cuando encuentre sus facturas.',
    },
    'no-corrections':
      'No hay archivo de correcciones: el archivo original no se pudo leer de nuevo tal como era. Corrija las filas en el archivo original y deposite ese.',
    'corrections-incomplete':
      'No hay archivo de correcciones: hay más filas fuera de toda factura que las que aquí constan, y sin ellas podrían faltarle líneas de facturas. Corrija las filas en el archivo original y deposite ese.',
    'corrections-as-csv':
      'El archivo de correcciones es CSV y no un libro de hojas de cálculo. En inglés: {cause}. Cada fila dice al final qué está mal; guardado como libro, también se lee.',
    'no-webhook-url':
      'WEBHOOK_URL no está definido: no se registró ningún webhook, y las respuestas finales se obtuvieron solo preguntando (GET).',
    'no-webhook-secret':
      'Alerta: el servicio no dio ningún secreto al registrar el webhook, y WEBHOOK_SECRET no está definido: se rechazaron todas las entregas, y las respuestas finales se obtuvieron solo preguntando (GET).',
    'no-address-secret':
      'Alerta: según el perfil del servicio (signature.kind), el secreto forma parte de la dirección del webhook, y WEBHOOK_SECRET no está definido: no se registró ningún webhook, y las respuestas finales se obtuvieron solo preguntando (GET). Defina WEBHOOK_SECRET.',
    'webhook-not-by-lote':
      'Según el perfil del servicio (webhook.register), Lote no registra ningún webhook, y WEBHOOK_SECRET no está definido: las respuestas finales se obtuvieron solo preguntando (GET).',
    'webhook-registered-elsewhere':
      'Otro proceso estaba registrando el webhook cuando empezó el lote: hasta que lo hizo, las respuestas finales se obtuvieron solo preguntando (GET).',
    'registration-lost':
      'Se perdió la respuesta al registro del webhook ({code}): las respuestas finales se obtuvieron solo preguntando (GET), y el lote siguiente lo registra de nuevo.',
    'registration-refused':
      'El servicio no registró el webhook ({code}): las respuestas finales se obtuvieron solo preguntando (GET).',
    'registered-before': {
      one: 'Alerta: el webhook ya se había registrado una vez sin que se guardara la respuesta (una caída del proceso, o una respuesta perdida). El servicio puede tener la dirección más de una vez; las entregas firmadas con un secreto que nunca llegó se rechazan (401), y las mismas noticias llegan por el registro conocido. Elimine el otro en el servicio.',
      other:
        'Alerta: el webhook ya se había registrado {n} veces sin que se guardara la respuesta (una caída del proceso, o una respuesta perdida). El servicio puede tener la dirección más de una vez; las entregas firmadas con un secreto que nunca llegó se rechazan (401), y las mismas noticias llegan por el registro conocido. Elimine el otro en el servicio.',
    },
  },
};
