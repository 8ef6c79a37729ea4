import type { DetailsTexts } from './en.ts';

/** Spanish words of the current details. */
export const DETAILS_TEXTS_ES: DetailsTexts = {
  phases: {
    reading: 'leyendo el archivo',
    attached: 'otra ejecución tiene este archivo: esperándola',
    confirming: 'retenido antes de enviar nada: su total es inusual',
    merchants: 'comprobando que los emisores existen',
    sending: 'enviando facturas',
    waiting: 'todo enviado: a la espera de las respuestas finales',
    reporting: 'escribiendo el informe',
    done: 'terminado',
  },
  paused: 'en pausa, por un operador ({phase})',
  batch: 'Lote',
  notRead: '(aún no leído)',
  report: 'Informe',
  reportLater: 'Informe, cuando esté escrito',
  console: 'Consola: este lote',
  now: 'Ahora',
  waitsFor: 'Espera',
  nothing: 'nada',
  whatToDo: 'Qué hacer',
  unusualTotal: 'Total inusual',
  serviceProfile: 'Perfil del servicio',
  invoices: 'Facturas',
  pages: 'Páginas',
  pagesOf: '{sent} enviadas, {done} terminadas, de {pages}',
  pagesFailed: 'Páginas fallidas',
  cancelled: 'Cancelado',
  nothingMore: 'no se envía nada más',
  balance: 'Balance',
  asOf: 'a {time}',
  state: 'Estado',
  net: 'Importe neto',
  ofFile: 'del archivo',
  goneOut: 'emitido',
  next: {
    folder:
      'Permita escribir en la carpeta indicada, o libere espacio en ella. Mientras tanto no se pierde nada: se intenta de nuevo automáticamente',
    ledger:
      'Revise la base de datos del libro de registro. Mientras tanto no se pierde nada, y todo sigue por sí mismo cuando la base de datos vuelva a aceptar escrituras',
    key: 'El servicio rechaza la clave de la API: ponga la correcta e inicie Lote de nuevo. Mientras tanto no se pierde nada',
    profile:
      'El perfil del servicio no corresponde al servicio: corrija el archivo indicado por SERVICE_PROFILE e inicie Lote de nuevo. Mientras tanto no se pierde nada',
    forbidden: 'El servicio rechaza esta aplicación: pregunte a su soporte. Se intenta de nuevo automáticamente',
    firstInvoices:
      'Nada: las primeras facturas fueron aceptadas, y el resto sale cuando se emita una de ellas. Solo con un perfil del servicio nuevo puede tardar más de medio minuto',
    leftAlone: 'Nada: el servicio pidió que se esperara un poco',
    away: 'Nada: sigue por sí mismo cuando el servicio vuelva a responder, durante el tiempo de LOTE_OUTAGE_PATIENCE. La página del estado del sistema, en la consola, muestra qué pasa',
    lookAt: 'Vea el workflow {workflow}',
    confirm:
      'Compare el total con su origen. Si es correcto, envíe el update confirmTotal con {input}; si no, cancelRemaining',
    why: 'por qué es correcto',
    resume: 'Envíe el update resume para continuar, o cancelRemaining',
    settleNow: 'Nada. El update settleNow pregunta al servicio de inmediato, en lugar de esperar',
    problems: 'Nada por ahora. La query problems muestra lo que está sin emisión confirmada',
    nothing: 'Nada',
    unreported:
      'Nada: el informe no se pudo escribir, y la próxima conciliación lo escribe. El fallo de esta ejecución dice por qué',
    refused: 'Vea en el informe por qué se rechazó el archivo, corríjalo y deposítelo de nuevo',
    allOut: 'Nada: se emitieron todas las facturas',
    totalsDiffer:
      'Se emitieron todas las facturas del archivo, pero no tiene los totales declarados: compárelo con su origen',
    contradicted: {
      one: '{n} factura se emitió, pero puede existir dos veces, o haber fallado: compruébela en el servicio y no la envíe de nuevo',
      other:
        '{n} facturas se emitieron, pero pueden existir dos veces, o haber fallado: compruébelas en el servicio y no las envíe de nuevo',
    },
    notOut: {
      one: '{n} factura está sin emisión confirmada. Corrija las filas en el archivo de correcciones y deposítelo; o envíe lo mismo otra vez: inicie el workflow retryInvoices con {input}',
      other:
        '{n} facturas están sin emisión confirmada. Corrija las filas en el archivo de correcciones y deposítelo; o envíe lo mismo otra vez: inicie el workflow retryInvoices con {input}',
    },
  },
  night: {
    summary: 'Resumen',
    night: 'Noche',
    notOpened: '(aún no ha empezado)',
    phases: { looking: 'buscando archivos', running: 'en curso', done: 'terminada' },
    filesDone: '{done} de {all} archivos terminados',
    running: 'su lote está en curso',
    more: '{n} más en el resumen',
    file: 'Archivo',
    outcome: 'Resultado',
  },
  reconciliation: {
    repeated: 'Facturas «unknown» repetidas',
    found: 'de ellas encontradas',
    asked: 'Documentos consultados',
    settled: 'de ellos con palabra final',
    stopped: 'Lotes detenidos, que no se tocan',
    orphans: 'Lotes sin ejecución, cerrados',
    reports: 'Informes escritos de nuevo',
    unwritten: 'Informes que no se pudieron escribir',
    service: 'El servicio',
    serviceAway: 'no respondió; el resto espera a la próxima vez',
    profileFoundWrong: 'no se le preguntó por el resto: su perfil resultó ser erróneo',
  },
};
