import type { OperatorTexts } from '../operator-texts.ts';

/** Spanish texts of the forms with which an operator acts. */
export const OPERATOR_TEXTS_ES: OperatorTexts = {
  retry: {
    title: 'Enviar otra vez',
    note: 'Las facturas fallidas y rechazadas van con una clave nueva, las retenidas tal como están. Lo que se emitió nunca se vuelve a enviar.',
    repeatNote:
      'No llegó respuesta. La misma petición va otra vez con la misma clave: el servicio dice entonces qué fue de ella.',
    states: 'Facturas en estado',
    button: 'Enviar otra vez',
    risk: 'Acepto que esta factura pueda emitirse dos veces.',
    riskNote: 'Solo donde Lote no puede probar que la primera petición no dejó nada. Queda en la auditoría.',
    started: 'Se están retomando. Esta página sigue el lote.',
    joined: 'El lote está en curso: las retoma cuando terminen sus páginas.',
    moved: { one: 'Enviada otra vez: {n} factura.', other: 'Enviadas otra vez: {n} facturas.' },
    left: { one: '{n} factura quedó como está:', other: '{n} facturas quedaron como están:' },
    refusals: {
      'state-not-retryable': 'un estado así no se envía otra vez',
      'generations-spent': 'enviada tantas veces como permite el perfil del servicio (retry.maxGenerations)',
      'needs-accept-duplicate-risk': 'podría emitirse dos veces, y nadie aceptó ese riesgo',
      'owned-by-running-batch': 'la tiene otro lote en curso',
      'total-unconfirmed':
        'nadie ha confirmado el total inusual del archivo. Inicie o deje el archivo de nuevo, lo que vuelve a preguntar, y confirme el total',
    },
  },
  reconcile: {
    title: 'Aún sin palabra final',
    note: 'Aquí Lote pregunta ahora, por todo lo que cualquier lote dejó abierto y todavía se puede preguntar. Hace lo mismo por sí mismo, tanto menos a menudo cuanto más antigua es la factura, y no repite ninguna solicitud después de que el servicio pueda haber olvidado la clave. Donde el motivo deja la decisión a un operador, pregunte al servicio qué fue de ella y después reenvíela por su referencia.',
    button: 'Preguntar ahora al servicio',
    started: 'Se está preguntando al servicio. Mire de nuevo dentro de un momento.',
    asked: 'Se preguntó por {asked} documentos, {settled} de ellos tienen ahora palabra final.',
    repeated: 'Se repitieron {repeated} peticiones sin respuesta, {found} de ellas se encontraron.',
    closed:
      'Lotes sin ejecución que se cerraron: {closed}. Lo que dejaron como «unknown» no se repitió: lea sus informes y después pregunte otra vez.',
    unanswered: 'El servicio no responde; el resto espera a la próxima vez.',
    profileFoundWrong:
      'No se preguntó por el resto, porque el perfil del servicio resultó ser erróneo. Alguien debe corregirlo y volver a iniciar Lote.',
  },
  audit: {
    title: 'Hecho a mano',
    none: 'No se hizo nada a mano.',
    note: 'Todo lo que alguien, o la política de reintentos, hizo con este lote. También está en el informe, salvo las descargas.',
    who: 'Quién',
    why: 'Por qué',
    examples: 'Entre ellas',
    download: 'Descargar (CSV)',
    risk: 'Se aceptó el riesgo de un duplicado.',
    somebody: 'no se sabe',
    moves: {
      release: 'liberada',
      regenerate: 'enviada otra vez con una clave nueva',
      repeat: 'enviada otra vez con la misma clave',
      abandon: 'enviada otra vez con una clave nueva, la primera sin aclarar',
    },
    actions: {
      retry: 'enviadas otra vez',
      pause: 'en pausa',
      resume: 'reanudado',
      'cancel-remaining': 'no se envía nada más',
      'settle-now': 'se preguntó al servicio',
      'confirm-total': 'total confirmado',
      'save-profile': 'guardó un perfil del servicio',
      start: 'inició el archivo',
      reconcile: 'volvió a preguntar al servicio',
      download: 'descargó',
    },
  },
  total: {
    state: 'retenido: confirmar el total',
    title: 'Confirmar el total',
    sentence:
      'Todavía no se ha enviado nada de este archivo: su total difiere más de {factor} veces del de los últimos {n} archivos con el nombre {pattern}.',
    note: 'Compárelo con el origen del archivo. Si es correcto, escriba el número de facturas: el lote se envía entonces de inmediato. Si no lo es, no envíe nada más, abajo.',
    found: 'Este archivo',
    usual: 'Habitual',
    number: 'Número de facturas',
    button: 'El total es correcto: enviar',
    done: 'El total está confirmado. El lote se está enviando.',
    compared: {
      title: 'Total del archivo',
      usual: 'como es habitual: comparado con los últimos {n} archivos con el nombre {pattern}',
      tooFew: 'no comparado: {n} de {needed} archivos anteriores con el nombre {pattern}',
      confirmed: 'inusual, y confirmado por un operador',
      declared: 'declarado al iniciar el lote',
      corrections: 'sin comparar: es un archivo de correcciones',
      off: 'no comparado',
    },
  },
  people: {
    signedInAs: 'Sesión de',
    roles: { look: 'puede consultar', operate: 'puede operar' },
    roleMissing: 'Puede consultar, pero no actuar.',
    roleMissingNote: 'No se hizo nada. Quien lleva esta instalación decide quién puede operar.',
  },
  withoutTemporal:
    'Esta consola solo muestra: sin TEMPORAL_ADDRESS no puede comprobar ni iniciar archivos, pausar lotes o enviar otra vez.',
};
